/** What a server or a program wrote is more than is read of it: why, and how people are told. */
import { sentence } from '../../src/shared/domain/sentence.ts';
import type { JsonBounds, TooMuchJson } from './json-bounds.ts';

/** How much one message may be. */
export interface MessageBounds {
  /** Bytes. */
  readonly messageBytes: number;
  readonly json: JsonBounds;
}

export type TooMuch = TooMuchJson | 'length' | 'flood';

export const FLOODED = sentence`it writes more than anybody could read`;

/** In words about “it”, the server or program. */
export function tooMuchWords(what: TooMuch, { messageBytes, json }: MessageBounds): string {
  switch (what) {
    case 'flood':
      return FLOODED;
    case 'length':
      return sentence`it answered with more than ${messageBytes / 1_000_000} MB`;
    case 'depth':
      return sentence`it answered with lists or objects more than ${json.depth} deep in each other`;
    case 'values':
      return sentence`it answered with more than ${json.values.toLocaleString('en')} values`;
    default:
      return what satisfies never;
  }
}

export class TooMuchError extends Error {
  readonly what: TooMuch;
  constructor(what: TooMuch, bounds: MessageBounds) {
    super(tooMuchWords(what, bounds));
    this.what = what;
  }
}
