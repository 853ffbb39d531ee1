"""`python -m arcllm "prompt" --model provider:model`."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
