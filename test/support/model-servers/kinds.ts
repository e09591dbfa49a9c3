/** Each server that people really have, as its source or documentation has it. */
import { SEALED, type Asked, type Dialect, type Kind, type Refusal } from './stand-in.ts';

const MESSAGES = '/v1/messages';
const CHAT = '/v1/chat/completions';
const openAiList = (ids: readonly string[], more: object = {}) => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model', created: 1_764_000_000, owned_by: 'library', ...more })),
});

/** In the form of the protocol that was spoken. */
const said = (status: number, dialect: Dialect, message: string, type: string): Refusal => ({
  status,
  body:
    dialect === 'messages'
      ? { type: 'error', error: { type, message } }
      : { error: { message, type, param: null, code: null } },
});

/**
 * Ollama 0.14 and later: `server/routes.go`, `middleware/openai.go`, `middleware/anthropic.go`; its
 * window is 4,096 tokens where nobody sets OLLAMA_CONTEXT_LENGTH, and what does not fit is cut off
 * in silence (`server/prompt.go`, `llm/llama_server.go`). `halves`: a model with a context shift
 * keeps half of the window.
 * https://docs.ollama.com/api/anthropic-compatibility,
 * https://docs.ollama.com/context-length
 */
export const ollama = ({ tools = true, context = 32_768, halves = false } = {}): Kind => ({
  paths: { [MESSAGES]: 'messages', [CHAT]: 'chat' },
  list: { path: '/v1/models', body: openAiList(['nomic-embed-text:latest', 'qwen3:8b']) },
  unknownPath: () => ({ status: 404, body: '404 page not found' }),
  reads: (tokens) => (tokens <= context ? tokens : halves ? context / 2 + 2 : context),
  refuse: ({ model, tools: given }: Asked, dialect) =>
    model.startsWith('nomic')
      ? said(400, dialect, `"${model}" does not support chat`, 'invalid_request_error')
      : !tools && given.length > 0
        ? said(400, dialect, `registry.ollama.ai/library/${model} does not support tools`, 'invalid_request_error')
        : null,
});

/**
 * LM Studio: a path that it does not have is a 200 with an error in it. Before 0.4.1 it spoke Chat
 * Completions alone. https://lmstudio.ai/docs/developer/openai-compat,
 * https://lmstudio.ai/docs/developer/anthropic-compat
 */
export const lmStudio = ({ messages = false, context = 32_768 } = {}): Kind => ({
  paths: { ...(messages ? { [MESSAGES]: 'messages' as const } : {}), [CHAT]: 'chat' },
  list: { path: '/v1/models', body: openAiList(['qwen3-8b', 'text-embedding-nomic-embed-text-v1.5']) },
  unknownPath: (method, path) => ({
    status: 200,
    body: { error: `Unexpected endpoint or method. (${method} ${path})` },
  }),
  refuse: ({ tokens }) =>
    tokens > context
      ? {
          status: 400,
          body: {
            error: `Trying to keep the first ${tokens} tokens when context the overflows. However, the model is loaded with context length of only ${context} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input`,
          },
        }
      : null,
});

/**
 * llama.cpp: `tools/server/server-common.cpp` (tools), `tools/server/server-task.h` (its errors),
 * `tools/server/README.md`.
 */
export const llamaCpp = ({ jinja = true, context = 32_768 } = {}): Kind => ({
  paths: { [CHAT]: 'chat', [MESSAGES]: 'messages' },
  list: {
    path: '/v1/models',
    body: { models: [{ name: 'qwen3.gguf', model: 'qwen3.gguf' }], ...openAiList(['qwen3.gguf']) },
  },
  unknownPath: () => ({
    status: 404,
    body: { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } },
  }),
  refuse({ tools, tokens }) {
    if (!jinja && tools.length > 0)
      return {
        status: 500,
        body: { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
      };
    if (tokens <= context) return null;
    return {
      status: 400,
      body: {
        error: {
          code: 400,
          message: `request (${tokens} tokens) exceeds the available context size (${context} tokens), try increasing it`,
          type: 'exceed_context_size_error',
          n_prompt_tokens: tokens,
          n_ctx: context,
        },
      },
    };
  },
});

/**
 * vLLM: `vllm/entrypoints/openai/serving_engine.py` (`_validate_input`), `serving_chat.py` (tool
 * choice). It counts what is read and what is written together.
 * https://docs.vllm.ai/en/latest/features/tool_calling.html
 */
export const vllm = ({ parser = true, context = 8_192, older = true } = {}): Kind => ({
  paths: { [CHAT]: 'chat', ...(older ? {} : { [MESSAGES]: 'messages' as const }) },
  list: { path: '/v1/models', body: openAiList(['Qwen/Qwen3-8B'], { max_model_len: context }) },
  unknownPath: () => ({ status: 404, body: { detail: 'Not Found' } }),
  refuse({ tools, tokens, maxTokens }) {
    const bad = (message: string): Refusal => ({
      status: 400,
      body: { error: { message, type: 'BadRequestError', param: null, code: 400 } },
    });
    if (!parser && tools.length > 0)
      return bad('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set');
    if (tokens > context)
      return bad(
        `This model's maximum context length is ${context} tokens. However, your request has ${tokens} input tokens. Please reduce the length of the input messages.`,
      );
    if (tokens + maxTokens > context)
      return bad(
        `'max_tokens' or 'max_completion_tokens' is too large: ${maxTokens}. This model's maximum context length is ${context} tokens and your request has ${tokens} input tokens (${maxTokens} > ${context} - ${tokens}).`,
      );
    return null;
  },
});

/**
 * LiteLLM's proxy: `litellm/proxy/auth/user_api_key_auth.py`.
 * https://docs.litellm.ai/docs/anthropic_unified
 */
export const LITELLM_KEY = 'sk-1234';
export const liteLlm = (): Kind => ({
  paths: { [CHAT]: 'chat', '/chat/completions': 'chat', [MESSAGES]: 'messages' },
  list: { path: '/v1/models', body: openAiList(['gpt-5-mini', 'claude-sonnet-5-5', 'text-embedding-3-small']) },
  key: LITELLM_KEY,
  noKey: {
    status: 401,
    body: {
      error: { message: 'Authentication Error, No api key passed in.', type: 'auth_error', param: 'None', code: '401' },
    },
  },
  unknownPath: () => ({ status: 404, body: { detail: 'Not Found' } }),
});

/**
 * https://openrouter.ai/docs/api/reference/streaming,
 * https://openrouter.ai/docs/api/reference/errors-and-debugging
 */
export const OPENROUTER_KEY = 'sk-or-v1-planted';
export const openRouter = (): Kind => ({
  paths: { '/api/v1/chat/completions': 'chat' },
  list: {
    path: '/api/v1/models',
    open: true,
    body: {
      data: Array.from({ length: 420 }, (_none, i) => ({
        id: `vendor${i % 20}/model-${i}`,
        name: `Vendor: Model ${i}`,
        context_length: 131_072,
        pricing: { prompt: '0.000001', completion: '0.000002' },
      })),
    },
  },
  key: OPENROUTER_KEY,
  noKey: { status: 401, body: { error: { message: 'No auth credentials found', code: 401 } } },
  unknownPath: () => ({ status: 404, body: '<!DOCTYPE html><html><body>Not Found</body></html>' }),
  refuse: ({ model, tools }) =>
    model.endsWith('-13') && tools.length > 0
      ? {
          status: 404,
          body: {
            error: {
              message: 'No endpoints found that support tool use. Try disabling "say_present".',
              code: 404,
            },
          },
        }
      : null,
  comments: ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n',
});

/**
 * https://console.groq.com/docs/openai, https://console.groq.com/docs/errors,
 * https://console.groq.com/docs/rate-limits
 */
export const GROQ_KEY = 'gsk_planted';
export const groq = (): Kind => ({
  paths: { '/openai/v1/chat/completions': 'chat' },
  list: {
    path: '/openai/v1/models',
    body: openAiList(['whisper-large-v3', 'llama-3.3-70b-versatile', 'openai/gpt-oss-120b']),
  },
  key: GROQ_KEY,
  noKey: {
    status: 401,
    body: { error: { message: 'Invalid API Key', type: 'invalid_request_error', code: 'invalid_api_key' } },
  },
  unknownPath: (method, path) => ({
    status: 404,
    body: {
      error: {
        message: `Unknown request URL: ${method} ${path}. Please check the URL for typos, or see the docs at https://console.groq.com/docs/`,
        type: 'invalid_request_error',
        code: 'unknown_url',
      },
    },
  }),
  refuse: ({ text }) =>
    text.includes('"reasoning_content"')
      ? {
          status: 400,
          body: {
            error: {
              message:
                "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
              type: 'invalid_request_error',
            },
          },
        }
      : null,
  chunk: (chunk) => ({ ...chunk, x_groq: { id: 'req_1' } }),
});

/**
 * Gemini's address for OpenAI's clients: errors stand in a list, a call has no index, and its
 * signature has to come back. https://ai.google.dev/gemini-api/docs/openai,
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const GEMINI_KEY = 'AIzaPlanted';
export const gemini = (): Kind => ({
  paths: { '/v1beta/openai/chat/completions': 'chat' },
  list: {
    path: '/v1beta/openai/models',
    body: openAiList(['models/gemini-3-flash-preview', 'models/text-embedding-004']),
  },
  key: GEMINI_KEY,
  noKey: {
    status: 400,
    body: [{ error: { code: 400, message: 'Missing or invalid Authorization header.', status: 'INVALID_ARGUMENT' } }],
  },
  unknownPath: () => ({ status: 404, body: '' }),
  refuse: ({ text }) =>
    text.includes('"tool_calls"') && !text.includes('"thought_signature":"c2lnbmVk"')
      ? {
          status: 400,
          body: [
            {
              error: {
                code: 400,
                message: 'Function call is missing a thought_signature in functionCall parts.',
                status: 'INVALID_ARGUMENT',
              },
            },
          ],
        }
      : null,
  chunk(chunk) {
    const choices = (
      chunk['choices'] as readonly { readonly delta?: { readonly tool_calls?: readonly object[] } }[]
    ).map((choice) => {
      const calls = choice.delta?.tool_calls;
      if (!calls) return choice;
      const unindexed = calls.map((call) => ({
        ...call,
        index: undefined,
        ...('id' in call ? { extra_content: { google: { thought_signature: 'c2lnbmVk' } } } : {}),
      }));
      return { ...choice, delta: { ...choice.delta, tool_calls: unindexed } };
    });
    return { ...chunk, choices };
  },
});

/**
 * OpenAI's own, which speaks Responses: a call is refused where the thought before it does not come
 * back. https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context
 */
export const OPENAI_KEY = 'sk-proj-planted';
export const openAi = (): Kind => ({
  paths: { '/v1/responses': 'responses' },
  list: { path: '/v1/models', body: openAiList(['text-embedding-3-small', 'gpt-5-mini']) },
  key: OPENAI_KEY,
  noKey: {
    status: 401,
    body: {
      error: {
        message: 'Incorrect API key provided.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    },
  },
  unknownPath: (method, path) => ({
    status: 404,
    body: {
      error: { message: `Invalid URL (${method} ${path})`, type: 'invalid_request_error', param: null, code: null },
    },
  }),
  refuse: ({ text }) =>
    text.includes('"function_call"') && !text.includes(`"encrypted_content":"${SEALED}"`)
      ? {
          status: 400,
          body: {
            error: {
              message:
                "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
              type: 'invalid_request_error',
              param: 'input',
              code: null,
            },
          },
        }
      : null,
});

/**
 * Google's own. https://ai.google.dev/api/generate-content,
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const google = (): Kind => ({
  paths: { '/v1beta/models/*:streamGenerateContent': 'google' },
  list: {
    path: '/v1beta/models',
    body: {
      models: [
        { name: 'models/gemini-embedding-001', displayName: 'Embedding', supportedGenerationMethods: ['embedContent'] },
        {
          name: 'models/gemini-3-flash-preview',
          displayName: 'Gemini 3 Flash',
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        },
      ],
    },
  },
  key: GEMINI_KEY,
  noKey: {
    status: 400,
    body: {
      error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' },
    },
  },
  unknownPath: () => ({ status: 404, body: '' }),
  refuse: ({ text }) =>
    text.includes('"functionCall"') && !text.includes(`"thoughtSignature":"${SEALED}"`)
      ? {
          status: 400,
          body: {
            error: {
              code: 400,
              message: 'Function call is missing a thought_signature in functionCall parts.',
              status: 'INVALID_ARGUMENT',
            },
          },
        }
      : null,
});
