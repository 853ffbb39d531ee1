"""An answer as it arrives, without `await`."""

from arcllm import LLMResponse, TextDelta, load_model

for piece in load_model("anthropic").stream_sync("Tell me of owls."):
    if isinstance(piece, TextDelta):
        print(piece.text, end="", flush=True)
    elif isinstance(piece, LLMResponse):
        print(f"\n{piece.usage.output_tokens} tokens, {piece.stop_reason}")
