/** Every default and limit of connecting models, in one place. */
import type { Protocol } from '../../../src/shared/protocol/models.ts';

export const CONNECT_LIMITS = {
  /**
   * ms for a list of models, and for a first word: a local server may have to load the model
   * before.
   */
  listMs: 10_000,
  tryMs: 100_000,
  /**
   * Models of a list that are asked for a word, one after the other, where the server refuses those
   * before.
   */
  tried: 3,
  /** ms for each of the usual ports, which are near. */
  findMs: 2_000,
  /** Bytes of a list that are read, levels and values of its JSON. */
  listBytes: 2_000_000,
  listDepth: 32,
  listValues: 50_000,
  /** Longest answer to the first request. */
  tryTokens: 16,
  /** Characters of a server's own words about its list. */
  saidCharacters: 300,
} as const;

/** Where model servers usually answer on the machine that they run on. */
export const USUAL_SERVERS = [
  { program: 'Ollama', address: 'http://127.0.0.1:11434' },
  { program: 'LM Studio', address: 'http://127.0.0.1:1234' },
  { program: 'llama.cpp', address: 'http://127.0.0.1:8080' },
  { program: 'vLLM', address: 'http://127.0.0.1:8000' },
] as const;

/** A way to one of the known hosts; `address`: behind its origin. */
interface KnownWay {
  readonly protocol: Protocol;
  readonly address: string;
}

/**
 * Hosts whose address alone does not say where their protocol is. `paths`: what people write behind
 * them.
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

/** Models that a server lists beside those that talk. */
export const TALKS_NOT = /embed|rerank|whisper|tts|moderation|transcri|dall-e|image|stable-diffusion|flux/i;
