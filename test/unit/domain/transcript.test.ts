import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leftOutLine, renderTranscript, type TranscriptMessage } from '../../../src/domain/transcript.ts';
import { anyText } from './arbitraries.ts';

const TIME = Date.UTC(2026, 10, 21, 8, 52, 30);
const HEAD = 'Ada (2026-11-21 08:52 UTC):\n';
const message = (text: string, author = 'Ada'): TranscriptMessage => ({ author, time: TIME, text });
const whole = (one: TranscriptMessage) => renderTranscript([one], Number.MAX_SAFE_INTEGER)?.text ?? '';

const someMessages = fc.array(
  fc.record({ author: anyText, time: fc.integer({ min: 0, max: 999_999_999_999_999 }), text: anyText }),
  { minLength: 1, maxLength: 20 },
);

describe('a transcript', () => {
  it('names who spoke and when, oldest first', () => {
    expect(renderTranscript([message('Hello'), message('Hi', 'Lyra')], 1000)).toEqual({
      text: 'Ada (2026-11-21 08:52 UTC):\nHello\n\nLyra (2026-11-21 08:52 UTC):\nHi',
      kept: 2,
      leftOut: 0,
    });
  });

  it('of nothing is nothing', () => {
    expect(renderTranscript([], 1000)).toBeNull();
  });

  it('says how many earlier messages were left out', () => {
    const cap = whole(message('two')).length;
    expect(renderTranscript([message('one'), message('two')], cap)?.text).toBe(`[1 earlier message was left out]\n\n${HEAD}two`);
    expect(renderTranscript([message('zero'), message('one'), message('two')], cap)?.text).toBe(`[2 earlier messages were left out]\n\n${HEAD}two`);
  });

  it('counts the messages that were not even read among those left out', () => {
    expect(renderTranscript([message('one')], 1000, 40)).toEqual({ text: `[40 earlier messages were left out]\n\n${HEAD}one`, kept: 1, leftOut: 40 });
  });

  it('takes a message that fits to the character, and leaves out one that is a character too long', () => {
    const cap = whole(message('one')).length + whole(message('two')).length;
    expect(renderTranscript([message('one'), message('two')], cap)?.kept).toBe(2);
    expect(renderTranscript([message('one'), message('two')], cap - 1)?.kept).toBe(1);
  });

  it('keeps the newest message whole, even one that is over the cap alone', () => {
    const long = message('x'.repeat(100));
    expect(renderTranscript([message('one'), long], 10)).toEqual({ text: `[1 earlier message was left out]\n\n${whole(long)}`, kept: 1, leftOut: 1 });
    expect(renderTranscript([message('one'), long], 0)?.kept).toBe(1);
  });

  it('is the newest messages that fit, each whole and word for word, and no more could have been kept', () => {
    fc.assert(
      fc.property(someMessages, fc.integer({ min: 0, max: 400 }), fc.nat({ max: 3 }), (messages, cap, earlier) => {
        const transcript = renderTranscript(messages, cap, earlier);
        const pieces = messages.map(whole);
        const kept = pieces.slice(pieces.length - (transcript?.kept ?? 0));
        const size = (list: readonly string[]) => list.reduce((sum, piece) => sum + piece.length, 0);
        const leftOut = messages.length - kept.length + earlier;
        expect(transcript).toEqual({
          text: [...(leftOut > 0 ? [leftOutLine(leftOut)] : []), ...kept].join('\n\n'),
          kept: kept.length,
          leftOut,
        });
        expect(kept.length).toBeGreaterThan(0);
        if (kept.length > 1) expect(size(kept)).toBeLessThanOrEqual(cap);
        const oneMore = pieces.slice(pieces.length - kept.length - 1);
        if (oneMore.length > kept.length) expect(size(oneMore)).toBeGreaterThan(cap);
      }),
      { numRuns: 1000 },
    );
  });
});
