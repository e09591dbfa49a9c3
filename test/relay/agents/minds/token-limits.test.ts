/** What servers say of their limits, quoted. */
import { describe, expect, it } from 'vitest';
import { limitsIn } from '../../../../server/agents/minds/token-limits.ts';

const SENT = 8_192;
/**
 * Who says it, what, and what that means: of the window, what was sent of it; and of the answer
 * alone.
 */
const SAID: readonly (readonly [
  string,
  string,
  { window?: number; input?: number; output?: number; isLeast?: true },
])[] = [
  [
    'vLLM',
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 1523 input tokens (8192 > 8192 - 1523).",
    { window: 8192, input: 1523 },
  ],
  [
    'vLLM, before',
    "This model's maximum context length is 8192 tokens. However, you requested 9715 tokens (1523 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    { window: 8192, input: 1523 },
  ],
  [
    'vLLM, of late',
    "This model's maximum context length is 8192 tokens. However, you requested 8192 output tokens and your prompt contains at least 1 input tokens, for a total of at least 8193 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=1)",
    { window: 8192, input: 1, isLeast: true },
  ],
  [
    'vLLM, of its engine',
    'max_tokens=8192 cannot be greater than max_model_len=4096. Please request fewer output tokens.',
    { window: 4096 },
  ],
  [
    'SGLang',
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9715 tokens: 1523 tokens from the input messages and 8192 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    { window: 8192, input: 1523 },
  ],
  [
    'TGI',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1523 `inputs` tokens and 8192 `max_new_tokens`',
    { window: 4096, input: 1523 },
  ],
  [
    'Mistral',
    'Prompt contains 1523 tokens and 8192 draft tokens, too large for model with 8192 maximum context length',
    { window: 8192, input: 1523 },
  ],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9715 tokens (1383 of text input, 140 of tool input, 8192 in the output). Please reduce the length of either one.",
    { window: 8192, input: 1523 },
  ],
  [
    'Anthropic',
    'input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again',
    { window: 200_000, input: 195_000 },
  ],
  [
    'Anthropic, of the answer',
    'max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307',
    { output: 4096 },
  ],
  ['Anthropic, too long', 'prompt is too long: 213462 tokens > 200000 maximum', { window: 200_000, input: 213_462 }],
  [
    'OpenAI',
    'max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.',
    { output: 4096 },
  ],
  [
    'Groq',
    '`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    { output: 4096 },
  ],
  ['DeepSeek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 4096]', { output: 4096 }],
  ['DashScope', '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 4096]', { output: 4096 }],
  [
    'llama.cpp',
    '400 {"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}',
    { window: 4096, input: 5000 },
  ],
  [
    'LM Studio',
    'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    { window: 4096 },
  ],
];

describe('A refusal for its length', () => {
  it.each(SAID)(
    'reads how much fits from a refusal of %s: %s',
    (_who, said, { window = null, input = null, output = null, isLeast = false }) => {
      const found = limitsIn(said, SENT);
      expect(found).toMatchObject({ window, output });
      if (input !== null) expect(found).toMatchObject({ input, isLeast });
    },
  );

  it.each([
    'Rate limit reached for model x on tokens per minute (TPM): Limit 6000, Used 5200, Requested 1200.',
    'invalid x-api-key',
    'messages.0.content: Input should be a valid list',
    'registry.ollama.ai/library/gemma3:latest does not support tools',
    'Unsupported parameter: max_tokens is not supported with this model. Use max_completion_tokens instead.',
  ])('takes no other refusal for one of length: %s', (said) => {
    expect(limitsIn(said, SENT)).toBeNull();
  });
});
