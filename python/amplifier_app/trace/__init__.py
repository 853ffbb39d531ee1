"""A session as one page of HTML: what was asked, answered and done, when, and what it cost."""
