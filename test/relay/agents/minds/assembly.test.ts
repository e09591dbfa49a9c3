/** How an answer is put together from its events: what holds of any sequence of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyFilter } from '../../../../server/platform/key-filter.ts';
import { createAssembly, type Assembly, type AnswerUpdate } from '../../../../server/agents/minds/assembly.ts';
import { eventOf, type WireEvent } from '../../../../server/agents/minds/wire.ts';

type Taken = Parameters<Assembly['take']>[0];
const SECRET = 'sk-secret-0123456789';

function reading(key: string | null = null) {
  let ids = 0;
  const assembly = createAssembly({ words: createKeyFilter(key).pieces, newId: () => `own_${(ids += 1)}` });
  const told: AnswerUpdate[] = [];
  return {
    assembly,
    told,
    take: (event: Taken) => void told.push(...assembly.take(event)),
    close: (cut: boolean) => void told.push(...assembly.close(cut)),
    shown: () => told.map((each) => (each.kind === 'words' ? each.text : '')).join(''),
    kept: (cut = false) =>
      assembly
        .blocks(cut)
        .map((block) => (block.kind === 'text' ? block.text : ''))
        .join(''),
  };
}

const index = fc.option(fc.integer({ min: -1, max: 3 }), { freq: 4 });
const text = fc.string({ maxLength: 6 });
const id = fc.option(fc.constantFrom('a', 'b', ''));
const search = {
  use: { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
  result: { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'x', title: 'T', url: 'https://a' }] },
};
const block = fc.oneof(
  text.map((words) => ({ kind: 'text' as const, text: words })),
  text.map((thinking) => ({ kind: 'thinking' as const, thinking, signature: '' })),
  fc
    .tuple(id, fc.option(text), fc.jsonValue({ maxDepth: 1 }))
    .map(([of, name, input]) => ({ kind: 'call' as const, id: of, name, input })),
  fc
    .constantFrom(search.use, search.result, { type: 'server_tool_use' })
    .map((raw) => ({ kind: 'of-server' as const, raw })),
  fc.constant({ kind: 'unknown' as const }),
);
const delta = fc.oneof(
  text.map((words) => ({ kind: 'text' as const, text: words })),
  text.map((thinking) => ({ kind: 'thinking' as const, thinking })),
  text.map((signature) => ({ kind: 'signature' as const, signature })),
  fc.constantFrom('{', '}', '{}', '"a":', '1', '{"a":1}', '').map((json) => ({ kind: 'input' as const, json })),
);
const event: fc.Arbitrary<Taken> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      usage: fc.jsonValue(),
      content: fc.array(block, { maxLength: 2 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('block' as const), index, block }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('delta' as const), index, delta }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('block-end' as const), index }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('end' as const), reason: fc.option(text), usage: fc.jsonValue() }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'over' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'other' as const }) },
);
const ORDER = ['waiting', 'open', 'complete', 'over'] as const;

describe('An answer that is put together', () => {
  it('keeps shown words, grows only forward, and ends each block once', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.boolean(), (events, cut) => {
        const { assembly, told, take, close, shown, kept } = reading();
        let state = assembly.state();
        for (const each of events) {
          take(each);
          const next = assembly.state();
          expect(ORDER.indexOf(next)).toBeGreaterThanOrEqual(ORDER.indexOf(state === 'complete' ? 'complete' : state));
          if (state === 'over') expect(next).toBe('over');
          state = next;
        }
        close(cut);
        expect(kept(cut)).toBe(shown());
        const calls = assembly.blocks(cut).flatMap((each) => (each.kind === 'tool-use' ? [each] : []));
        expect(new Set(calls.map(({ toolUseId }) => toolUseId)).size).toBe(calls.length);
        for (const { toolUseId, name } of calls) expect([toolUseId.trim(), name.trim()]).not.toContain('');
        const begun = events.filter((each) => each.kind === 'block' || each.kind === 'begin').length;
        expect(told.filter(({ kind }) => kind === 'web').length).toBeLessThanOrEqual(2 * begun);
        if (!cut) expect(assembly.isWhole()).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes nothing more once it is over', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 10 }), fc.array(event, { maxLength: 10 }), (before, after) => {
        const [one, other] = [reading(), reading()];
        for (const each of before) for (const { take } of [one, other]) take(each);
        for (const { take } of [one, other]) take({ kind: 'over' });
        for (const each of after) one.take(each);
        for (const { close } of [one, other]) close(false);
        expect(one.told).toEqual(other.told);
        expect(one.assembly.blocks(false)).toEqual(other.assembly.blocks(false));
        expect(one.assembly.usage.counts()).toEqual(other.assembly.usage.counts());
      }),
    );
  });

  it('never shows a key, wherever blocks and pieces cut it, and keeps shown text', () => {
    const piece = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.nat(3), fc.boolean());
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 20 }), (cuts) => {
        const { take, close, shown, kept } = reading(SECRET);
        const all = `The key is ${SECRET}, and again ${SECRET}.`;
        let from = 0;
        for (const [length, of, ends] of [...cuts, [all.length, 0, false] as const]) {
          take({ kind: 'delta', index: of, delta: { kind: 'text', text: all.slice(from, from + length) } });
          if (ends) take({ kind: 'block-end', index: of });
          from += length;
        }
        take({ kind: 'over' });
        close(false);
        expect(shown()).toBe('The key is [key], and again [key].');
        expect(kept()).toBe(shown());
      }),
    );
  });

  it('reads events of any JSON without an error', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.option(fc.constantFrom('message_start', 'content_block_delta', 'error')),
        (data, named) => {
          const read: WireEvent = eventOf(data, named ?? undefined);
          const { take, close } = reading();
          if (read.kind !== 'error') take(read);
          close(false);
        },
      ),
      { numRuns: 500 },
    );
  });
});
