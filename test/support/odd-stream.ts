/**
 * Streams of answers as fast-check makes them: a plain one, and then whatever may go wrong with it
 * on its way.
 */
import fc from 'fast-check';
import { begins, ends, opens, OVER, adds, stops, type RawAnswer, type StreamEvent } from './raw-model.ts';

/** What the model means to say. `tool`: the name that its calls are of. */
export interface OddStream {
  readonly events: readonly StreamEvent[];
  readonly answer: RawAnswer;
  /** Nothing of the bytes was lost on the way, and nothing of them torn. */
  readonly whole: boolean;
}

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const index = fc.oneof(
  { weight: 5, arbitrary: fc.nat(6) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 99, null, '2', 1.5, {}, undefined) },
);
/** Of a count, a name or an id: anything that JSON has. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(null, true, '12', '', {}, [], -5, 2.5, 2 ** 64, 1e308, Number.MAX_SAFE_INTEGER),
  fc.jsonValue({ maxDepth: 2 }),
);

const pieces = (text: string, cuts: readonly number[]): string[] => {
  const edges = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  return edges.slice(1).map((edge, i) => text.slice(edges[i], edge));
};
const cuts = fc.array(fc.nat(40), { maxLength: 3 });

type Block = (at: number) => StreamEvent[];
function blockOf(tool: string): fc.Arbitrary<Block> {
  const text = fc.tuple(words, cuts).map(([said, at]): Block => (i) => [
    opens(i, { type: 'text', text: '' }),
    ...pieces(said, at).map((piece) => adds(i, { type: 'text_delta', text: piece })),
    stops(i),
  ]);
  const thought = fc.tuple(words, fc.boolean()).map(([thinking, signed]): Block => (i) => [
    opens(i, { type: 'thinking', thinking: '' }),
    adds(i, { type: 'thinking_delta', thinking }),
    ...(signed ? [adds(i, { type: 'signature_delta', signature: 'c2ln' })] : []),
    stops(i),
  ]);
  const call = fc.tuple(words, cuts, fc.option(fc.nat(1_000_000))).map(([said, at, id]): Block => (i) => [
    opens(i, { type: 'tool_use', ...(id === null ? {} : { id: `toolu_${id}` }), name: tool, input: {} }),
    ...pieces(JSON.stringify({ text: `soul ${said}` }), at).map((json) =>
      adds(i, { type: 'input_json_delta', partial_json: json }),
    ),
    stops(i),
  ]);
  return fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: thought }, { weight: 2, arbitrary: call });
}

type Change = (events: readonly StreamEvent[]) => StreamEvent[];
const place = fc.nat(60);
const at = (events: readonly StreamEvent[], n: number) => (events.length === 0 ? 0 : n % events.length);

const change: fc.Arbitrary<Change> = fc.oneof(
  place.map(
    (n): Change =>
      (events) =>
        events.toSpliced(at(events, n), 1),
  ),
  place.map(
    (n): Change =>
      (events) =>
        events.toSpliced(at(events, n), 0, ...events.slice(at(events, n), at(events, n) + 1)),
  ),
  fc.tuple(place, place).map(([n, m]): Change => (events) => {
    const [one, other] = [events[at(events, n)], events[at(events, m)]];
    return one && other ? [...events].with(at(events, n), other).with(at(events, m), one) : [...events];
  }),
  place.map(
    (n): Change =>
      (events) =>
        events.slice(0, at(events, n)),
  ),
  fc
    .tuple(place, fc.constantFrom<StreamEvent>({ type: 'ping' }, { type: 'of_tomorrow', index: 0 }, begins(), OVER))
    .map(
      ([n, event]): Change =>
        (events) =>
          events.toSpliced(at(events, n), 0, event),
    ),
  fc.tuple(place, index).map(
    ([n, i]): Change =>
      (events) =>
        events.map((event, j) => (j === at(events, n) && 'index' in event ? { ...event, index: i } : event)),
  ),
  fc.tuple(place, fc.constantFrom('index', 'delta', 'content_block', 'usage', 'message', 'type'), anything).map(
    ([n, field, value]): Change =>
      (events) =>
        events.map((event, j) =>
          j === at(events, n) && field in event ? ({ ...event, [field]: value } as StreamEvent) : event,
        ),
  ),
  fc
    .tuple(
      place,
      fc.constantFrom('id', 'name', 'input', 'model', 'usage', 'stop_reason', 'partial_json', 'signature'),
      anything,
    )
    .map(
      ([n, field, value]): Change =>
        (events) =>
          events.map((event, j) => {
            if (j !== at(events, n)) return event;
            for (const within of ['content_block', 'delta', 'message'] as const) {
              const inner = event[within];
              if (typeof inner === 'object' && inner !== null && field in inner)
                return { ...event, [within]: { ...inner, [field]: value } };
            }
            return event;
          }),
    ),
);

const FORMS = {
  usual: (events: readonly StreamEvent[]) =>
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  nameless: (events: readonly StreamEvent[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  commented: (events: readonly StreamEvent[]) =>
    events.map((event) => `: hm\nid: 7\ndata:${JSON.stringify(event)}\n: hm\n\n`).join(''),
  crlf: (events: readonly StreamEvent[]) => FORMS.usual(events).replaceAll('\n', '\r\n'),
  cr: (events: readonly StreamEvent[]) => FORMS.usual(events).replaceAll('\n', '\r'),
  marked: (events: readonly StreamEvent[]) => `\ufeff${FORMS.usual(events)}data: [DONE]\n\n`,
} as const;

/** `tool`: what its calls are of; their input has a `text`. */
export const oddStream = (tool: string): fc.Arbitrary<OddStream> =>
  fc
    .record({
      blocks: fc.array(blockOf(tool), { maxLength: 4 }),
      reason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'pause_turn', null),
      changes: fc.array(change, { maxLength: 4 }),
      form: fc.constantFrom(...(Object.keys(FORMS) as (keyof typeof FORMS)[])),
      cut: fc.option(fc.nat(3_000), { freq: 4 }),
      split: fc.option(fc.integer({ min: 1, max: 50 }), { freq: 2 }),
      then: fc.constantFrom('end' as const, 'end' as const, 'cut' as const),
    })
    .map(({ blocks, reason, changes, form, cut, split, then }): OddStream => {
      const plain = [begins(), ...blocks.flatMap((block, i) => block(i)), ends(reason), OVER];
      const events = changes.reduce<StreamEvent[]>((before, each) => each(before), plain);
      const bytes = Buffer.from(FORMS[form](events));
      const sent = cut === null || cut >= bytes.length ? bytes : bytes.subarray(0, cut);
      const chunks =
        split === null
          ? [sent]
          : Array.from({ length: Math.ceil(sent.length / split) }, (_none, i) =>
              sent.subarray(i * split, (i + 1) * split),
            );
      return { events, answer: { chunks, then }, whole: sent.length === bytes.length };
    });

/** The words of these events, as far as they are a part of the answer. */
export function wordsOfEvents(events: readonly StreamEvent[]): string {
  let said = '';
  for (const event of events) {
    if (event.type === 'message_stop' || event.type === 'error') break;
    const { delta, content_block: block } = event as { readonly delta?: unknown; readonly content_block?: unknown };
    if (event.type === 'content_block_delta' && isWords(delta)) said += delta.text;
    if (event.type === 'content_block_start' && isWords(block)) said += block.text;
  }
  return said;
}
const isWords = (value: unknown): value is { readonly text: string } =>
  typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string';
