//! Lines of logs.

use amplifier_guard::{hide_homes, shorten};

#[test]
fn homes_are_hidden_wherever_they_stand() {
    for (text, hidden) in [
        ("open /home/ada/a.py and /home/bob/b", "open ~/a.py and ~/b"),
        ("/Users/Ádám/x", "~/x"),
        ("PATH=/home/a/bin:/home/b/bin", "PATH=~/bin:~/bin"),
        ("C:\\Users\\ada\\x and c:\\\\Users\\\\ada", "~\\x and ~"),
        ("file:///home/ada/x", "file://~/x"),
        ("/root/x /root", "~/x ~"),
        (
            "/home/ /rooted /srv/home/x https://a.b/home/x",
            "/home/ /rooted /srv/home/x https://a.b/home/x",
        ),
    ] {
        assert_eq!(hide_homes(text), hidden);
    }
}

#[test]
fn lines_are_cut_between_characters() {
    assert_eq!(shorten("naïve", 5), "naïve");
    assert_eq!(shorten("naïve!", 5), "naïv…");
    assert_eq!(shorten("ééé", 0), "");
}
