//! Text that was reported and is no longer valid.

use super::StreamProcessor;
use crate::ToolCallEvent;
use crate::process::answer_text::Dropped;
use crate::process::calls::text_of;
use crate::process::chunk::ChunkType;
use crate::process::event::AgentEvent;

impl StreamProcessor {
    /// Takes back the text of a block.
    pub(super) fn drop_text(
        &mut self,
        kind: ChunkType,
        block: Option<u64>,
        events: &mut Vec<AgentEvent>,
    ) {
        if kind == ChunkType::Thinking {
            if self.thinking.drop_block(block) == Dropped::All {
                self.end_thinking(events);
                events.push(AgentEvent::Restart(kind));
            }
        } else if self.message.drop_block(block) == Dropped::All {
            self.restart_message(events);
            self.calls.drop_tagged();
        }
    }

    /// Ends the message and the call that is open in it, and begins it again with nothing.
    pub(super) fn restart_message(&mut self, events: &mut Vec<AgentEvent>) {
        if let Some(parser) = &mut self.parser {
            let mut held = parser.flush();
            parser.reset();
            held.retain(|event| !matches!(event, ToolCallEvent::Regular(_)));
            self.tell(held, events);
        }
        if std::mem::take(&mut self.has_message) {
            events.push(AgentEvent::MessageEnd);
        }
        self.answer.assistant_content.clear();
        events.push(AgentEvent::Restart(ChunkType::Message));
    }

    /// Reports the valid message in full; calls in it that were reported before are not repeated.
    pub(super) fn tell_message(&mut self, events: &mut Vec<AgentEvent>) {
        let text = self.message.text();
        let Some(parser) = &mut self.parser else {
            return self.parse(&text, events);
        };
        let mut parsed = parser.feed(&text);
        parsed.extend(parser.flush());
        let mut known = self.calls.take_tagged();
        let mut call = Vec::new();
        for event in parsed {
            match event {
                ToolCallEvent::Regular(_) => self.tell(vec![event], events),
                ToolCallEvent::End(ref ended) => {
                    let is_known = known.get_mut(&text_of(ended)).and_then(Vec::pop).is_some();
                    call.push(event);
                    let call = std::mem::take(&mut call);
                    if !is_known {
                        self.tell(call, events);
                    }
                }
                _ => call.push(event),
            }
        }
        self.calls.drop_rest(known);
    }
}
