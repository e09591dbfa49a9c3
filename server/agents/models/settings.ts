/** Defaults and limits of connecting models. */
import type { Protocol } from '../../../src/shared/protocol/models.ts';

export const CONNECT_LIMITS = {
  /**
   * ms for a list of models, and for a first answer. A local server may have to load the model
   * first.
   */
  listMs: 10_000,
  tryMs: 100_000,
  /**
   * Models of a list that are tried one after another, where the server refuses the earlier ones.
   */
  tried: 3,
  /** A server that reads so many times what it read before has a larger context. */
  readsMore: 1.5,
  /** ms for each of the usual local ports. */
  findMs: 2_000,
  /** Bytes of a list that are read, depth and number of values of its JSON. */
  listBytes: 2_000_000,
  listDepth: 32,
  listValues: 50_000,
  /** Longest answer to the first request, in tokens. */
  tryTokens: 16,
} as const;

/** Usual local addresses of model servers. */
export const USUAL_SERVERS = [
  { program: 'Ollama', address: 'http://127.0.0.1:11434' },
  { program: 'LM Studio', address: 'http://127.0.0.1:1234' },
  { program: 'llama.cpp', address: 'http://127.0.0.1:8080' },
  { program: 'vLLM', address: 'http://127.0.0.1:8000' },
] as const;

/** A way to a known host. `address`: after its origin. */
interface KnownWay {
  readonly protocol: Protocol;
  readonly address: string;
}

/**
 * Hosts whose protocol path is not part of their address. `paths`: what people write after the
 * host.
 */
export const KNOWN_HOSTS: Readonly<
  Record<string, { readonly paths: readonly string[]; readonly ways: readonly KnownWay[] }>
> = {
  'api.openai.com': {
    paths: ['', '/v1'],
    ways: [
      { protocol: 'responses', address: '/v1' },
      { protocol: 'chat', address: '/v1' },
    ],
  },
  'generativelanguage.googleapis.com': {
    paths: ['', '/v1', '/v1beta'],
    ways: [
      { protocol: 'google', address: '/v1beta' },
      { protocol: 'chat', address: '/v1beta/openai' },
    ],
  },
  'api.groq.com': {
    paths: ['', '/v1', '/openai', '/openai/v1'],
    ways: [{ protocol: 'chat', address: '/openai/v1' }],
  },
  'openrouter.ai': {
    paths: ['', '/v1', '/api', '/api/v1'],
    ways: [
      { protocol: 'chat', address: '/api/v1' },
      { protocol: 'messages', address: '/api' },
    ],
  },
};

/** Listed models that are not for chat. */
export const TALKS_NOT = /embed|rerank|whisper|tts|moderation|transcri|dall-e|image|stable-diffusion|flux/i;
