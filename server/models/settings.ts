/** Every default and limit of connecting models, in one place. */

export const CONNECT_LIMITS = {
  /** ms for a list of models, and for a first word: a local server may have to load the model before. */
  listMs: 10_000,
  tryMs: 100_000,
  /** Models of a list that are asked for a word, one after the other, where the server refuses those before. */
  tried: 3,
  /** ms for each of the usual ports, which are near. */
  findMs: 2_000,
  /** Bytes of a list that are read, levels and values of its JSON. */
  listBytes: 2_000_000,
  listDepth: 32,
  listValues: 50_000,
  /** Longest answer to the first request. */
  tryTokens: 16,
} as const;

/** Where model servers usually answer on the machine that they run on. */
export const USUAL_SERVERS = [
  { program: 'Ollama', address: 'http://127.0.0.1:11434' },
  { program: 'LM Studio', address: 'http://127.0.0.1:1234' },
  { program: 'llama.cpp', address: 'http://127.0.0.1:8080' },
  { program: 'vLLM', address: 'http://127.0.0.1:8000' },
] as const;
