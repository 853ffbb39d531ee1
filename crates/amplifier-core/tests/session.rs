//! A session loads once, announces itself once and closes once.

use amplifier_core::error::SessionError;
use amplifier_core::event::{SESSION_RESUME, SESSION_START};
use amplifier_core::session::{Initialization, Session};

fn ready(is_resumed: bool) -> Session {
    let mut session = Session::new(is_resumed);
    assert_eq!(session.begin_initialize(), Initialization::Load);
    session.end_initialize(true);
    session
}

#[test]
fn a_load_is_claimed_once_and_can_be_tried_again_after_a_failure() {
    let mut session = Session::new(false);
    assert_eq!(session.begin_initialize(), Initialization::Load);
    assert_eq!(session.begin_initialize(), Initialization::Wait);
    session.end_initialize(false);
    assert!(!session.is_initialized());
    assert_eq!(session.begin_initialize(), Initialization::Load);
    session.end_initialize(true);
    assert!(session.is_initialized());
    assert_eq!(session.begin_initialize(), Initialization::Done);
}

#[test]
fn only_the_first_turn_announces_the_session_as_started_or_resumed() {
    for (is_resumed, announcement) in [(false, SESSION_START), (true, SESSION_RESUME)] {
        let mut session = ready(is_resumed);
        assert_eq!(session.begin_turn(), Ok(Some(announcement)));
        assert_eq!(session.begin_turn(), Ok(None));
    }
}

#[test]
fn a_turn_needs_an_initialized_session() {
    assert_eq!(
        Session::new(false).begin_turn(),
        Err(SessionError::NotInitialized)
    );
}

#[test]
fn only_an_open_session_announces_its_end() {
    let mut session = ready(false);
    assert!(session.close());
    assert!(!session.close());
    assert!(!session.is_initialized());
    assert!(!Session::new(false).close());
}
