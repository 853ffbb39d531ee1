//! The arguments of a call so far, as Python objects that are made once each.

use amplifier_core::{Json, Object};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::json::to_python;
use crate::traverse::{Traverse, traverse};

/// The Python side of an object or a list that only ever grows at its end.
pub(crate) struct Growing {
    /// A dict or a list.
    container: Py<PyAny>,
    /// How many of its entries are converted.
    length: usize,
    /// The last of them, which may grow too.
    last: Last,
}

enum Last {
    Whole,
    /// Text of so many bytes.
    Text(usize),
    Container(Box<Growing>),
}

traverse!(Growing: container, last);

impl Traverse for Last {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Whole | Self::Text(_) => Ok(()),
            Self::Container(growing) => growing.traverse(visit),
        }
    }
}

/// An object or a list of JSON.
#[derive(Clone, Copy)]
enum Node<'json> {
    Object(&'json Object),
    List(&'json [Json]),
}

impl Growing {
    /// The arguments of a call that begins.
    pub(crate) fn new(py: Python<'_>) -> Self {
        Self::of(PyDict::new(py).into_any())
    }

    fn of(container: Bound<'_, PyAny>) -> Self {
        Self {
            container: container.unbind(),
            length: 0,
            last: Last::Whole,
        }
    }

    /// Converts what is new since the last call, and returns the arguments so far.
    ///
    /// Each container that may still grow is a copy, whose entries are shared with other copies: what
    /// was handed out never grows.
    pub(crate) fn update<'py>(
        &mut self,
        py: Python<'py>,
        arguments: &Object,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.grow(py, Node::Object(arguments))
    }

    fn grow<'py>(&mut self, py: Python<'py>, node: Node<'_>) -> PyResult<Bound<'py, PyAny>> {
        let container = self.container.bind(py).clone();
        let mut inner = None;
        if let Some(place) = self.length.checked_sub(1)
            && let Some(json) = node.at(place)
        {
            match (&mut self.last, json) {
                (Last::Text(length), Json::Str(text)) if *length < text.len() => {
                    *length = text.len();
                    node.put(&container, place, &to_python(py, json)?)?;
                }
                (Last::Container(growing), _) => {
                    inner = Node::of(json)
                        .map(|json| growing.grow(py, json))
                        .transpose()?;
                }
                (Last::Whole | Last::Text(_), _) => {}
            }
        }
        while let Some(json) = node.at(self.length) {
            let place = self.length;
            self.length += 1;
            let is_last = node.at(self.length).is_none();
            (self.last, inner) = match (Node::of(json), json) {
                (Some(json), _) if is_last => {
                    let mut growing = Self::of(json.empty(py));
                    let copy = growing.grow(py, json)?;
                    node.put(&container, place, growing.container.bind(py))?;
                    (Last::Container(Box::new(growing)), Some(copy))
                }
                (_, json) => {
                    node.put(&container, place, &to_python(py, json)?)?;
                    let last = json
                        .as_str()
                        .map_or(Last::Whole, |text| Last::Text(text.len()));
                    (last, None)
                }
            };
        }
        let copy = node.copy(&container)?;
        if let Some(inner) = inner {
            node.put(&copy, self.length - 1, &inner)?;
        }
        Ok(copy)
    }
}

impl<'json> Node<'json> {
    fn of(json: &'json Json) -> Option<Self> {
        match json {
            Json::Object(entries) => Some(Self::Object(entries)),
            Json::Array(items) => Some(Self::List(items)),
            _ => None,
        }
    }

    fn at(self, place: usize) -> Option<&'json Json> {
        match self {
            Self::Object(entries) => entries.get_index(place).map(|(_, value)| value),
            Self::List(items) => items.get(place),
        }
    }

    fn empty(self, py: Python<'_>) -> Bound<'_, PyAny> {
        match self {
            Self::Object(_) => PyDict::new(py).into_any(),
            Self::List(_) => PyList::empty(py).into_any(),
        }
    }

    fn copy<'py>(self, container: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Object(_) => container.cast::<PyDict>()?.copy()?.into_any(),
            Self::List(items) => {
                let list = container.cast::<PyList>()?;
                list.get_slice(0, items.len()).into_any()
            }
        })
    }

    /// Sets the entry at a place, which is at most the next one.
    fn put(
        self,
        container: &Bound<'_, PyAny>,
        place: usize,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        match self {
            Self::Object(entries) => {
                let key = entries.get_index(place).map(|(key, _)| key);
                container.cast::<PyDict>()?.set_item(key, value)
            }
            Self::List(_) => {
                let list = container.cast::<PyList>()?;
                if place < list.len() {
                    list.set_item(place, value)
                } else {
                    list.append(value)
                }
            }
        }
    }
}
