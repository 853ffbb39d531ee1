//! Provider bytes in, typed content-block events out.
