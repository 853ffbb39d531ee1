//! What is read and written beneath a root, and what never is.

mod containment;
mod log_path;
mod races;
mod reading;
mod reference;
mod removing;
mod replacing;
mod secret_places;
mod writing;
