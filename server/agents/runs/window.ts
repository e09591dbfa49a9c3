/**
 * How much of a conversation its model can read. What the model counts is known only from its
 * answers: until it has said so, or refused, nothing is left out. Once a conversation is too long
 * it is made much shorter at once, so that what is cached of it holds for many turns.
 */
import type { Usage } from '../../../src/shared/protocol/documents.ts';
import type { MindError } from '../minds/index.ts';
import type { Conversation } from './conversation.ts';

export interface WindowLimits {
  /** Of the window, this part is filled before anything is left out. */
  readonly fullAt: number;
  /** Of what fits, this part is kept when the oldest is left out. */
  readonly keep: number;
  /** Of the window, the conversation is given at least this part. */
  readonly least: number;
  /** Most requests that are refused as too long before the answer fails. */
  readonly tries: number;
}

export interface Window {
  /**
   * Another model reads it from now on; what the one before counted and refused holds no longer.
   */
  readsNow(windowTokens: number | null): void;
  /** Before each request. Leaves the oldest out where the conversation would not fit. */
  fit(): void;
  /** What the model counted of the request that was sent last. */
  counted(usage: Usage): void;
  /** The server read so many tokens of the last request, and left the rest out without a word. */
  readsOnly(tokens: number): void;
  /**
   * The model refused the last request as too long. Whether something was left out, so that it can
   * be asked again.
   */
  refused(error: MindError): boolean;
}

export interface WindowDeps {
  readonly conversation: Pick<Conversation, 'size' | 'shorten'>;
  /** Characters of what stands before the conversation in the next request. */
  readonly fixed: number;
  /** Tokens that the answer may take: they share the window. */
  readonly maxTokens: number;
  /** Tokens that the model reads; null: not known. */
  readonly windowTokens: number | null;
  readonly limits: WindowLimits;
  /** Something was left out. */
  readonly onShortened: () => void;
}

/** Of English prose, about; other scripts and tool calls have fewer. */
const CHARACTERS_PER_TOKEN = 4;
/** What a count may say without being doubted: some servers count only what was new. */
const BELIEVED = { least: 0.3, most: 8 } as const;

export function createWindow(deps: WindowDeps): Window {
  const { conversation, maxTokens, windowTokens, limits, onShortened } = deps;
  let perToken = CHARACTERS_PER_TOKEN;
  let tokens = windowTokens;
  /** Characters of the shortest request that was refused. */
  let tooLong = Infinity;
  let tries = 0;
  let sent = 0;

  /** Characters of a whole request that fits, as far as it is known. */
  const room = () =>
    Math.min(
      tokens === null ? Infinity : (tokens - Math.min(maxTokens, tokens / 4)) * perToken * limits.fullAt,
      tooLong * limits.fullAt,
    );
  const size = () => deps.fixed + conversation.size();

  function shortenTo(most: number): boolean {
    const shortened = conversation.shorten(Math.max(0, most - deps.fixed));
    if (shortened) onShortened();
    return shortened;
  }

  return {
    readsNow(next) {
      tokens = next;
      perToken = CHARACTERS_PER_TOKEN;
      tooLong = Infinity;
      tries = 0;
    },
    fit() {
      // Where what stands before it fills the window by itself, reckoned: the newest words are sent
      // all the same.
      if (size() > room()) shortenTo(Math.max(room() * limits.keep, deps.fixed + room() * limits.least));
      sent = size();
    },
    counted({ inputTokens, cacheReadTokens, cacheWriteTokens }) {
      tries = 0;
      const ratio = sent / (inputTokens + cacheReadTokens + cacheWriteTokens);
      if (ratio >= BELIEVED.least && ratio <= BELIEVED.most) perToken = ratio;
    },
    readsOnly(most) {
      tokens = Math.min(tokens ?? Infinity, most);
    },
    refused({ tokens: told }) {
      tries += 1;
      if (tries > limits.tries) return false;
      tooLong = Math.min(tooLong, sent);
      if (told) {
        tokens = told.most;
        const ratio = sent / told.asked;
        if (ratio >= BELIEVED.least && ratio <= BELIEVED.most) perToken = ratio;
      }
      // Each refusal halves it, where the model did not say how much it reads.
      return shortenTo(Math.min(room() * limits.keep, told ? Infinity : sent / 2, sent * limits.fullAt));
    },
  };
}
