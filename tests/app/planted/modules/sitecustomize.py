"""What Python imports first."""

import own_table  # noqa: F401 - it acts when it is imported
