/**
 * Replication with the real sealing, in one process: the lines take 5 ms of virtual time, and the
 * work takes what it takes. What the network and the disks add is measured elsewhere.
 */
import { randomBytes } from 'node:crypto';
import { createReplica, type Replica } from '../../src/shared/replication/index.ts';
import type { Entry } from '../../src/shared/protocol/sync/page.ts';
import { newHousehold, newWriter, openEntry, sealEntry } from '../../src/worker/sync/crypto/index.ts';
import { createMemoryEntries, type MemoryEntries } from '../support/memory-entries.ts';
import { join, type End } from '../support/replicas.ts';
import { createVirtualTime, type VirtualTime } from '../support/virtual-time.ts';
import { definePart } from './part.ts';

/**
 * Documents that are written one after the other, that wait for a newcomer, and that each of two
 * devices wrote apart.
 */
const FULL = { steady: 300, behind: 10_000, offline: 500 };
const SMOKE: typeof FULL = { steady: 3, behind: 20, offline: 3 };
/** Bytes of one document as JSON. */
const DOCUMENT_BYTES = 240;
const BYTES_LIMIT = 500;
const BACKLOG_LIMIT_S = 10;
const PATIENCE_MS = 600_000;

const random = (length: number) => new Uint8Array(randomBytes(length));
const keys = newHousehold(random);

/** Words that deflate no better than a talk does. */
function documentOf(n: number): string {
  const start = JSON.stringify({ _id: `message:${n}`, schema: 1, type: 'message', text: '' });
  return JSON.stringify({
    _id: `message:${n}`,
    schema: 1,
    type: 'message',
    text: randomBytes(DOCUMENT_BYTES)
      .toString('base64')
      .slice(0, DOCUMENT_BYTES - start.length),
  });
}
function sealed(writer: string, counter: number, json: string): Entry {
  return {
    writer,
    counter,
    sealed: sealEntry({ keys, writer, counter, payload: new TextEncoder().encode(json), random }),
  };
}

type Side = End & { readonly replica: Replica; readonly entries: MemoryEntries };
function side(time: VirtualTime, name: string, kind: 'relay' | 'device', written: readonly Entry[] = []): Side {
  const entries = createMemoryEntries(kind === 'relay' ? undefined : (entry) => !openEntry({ ...entry, keys }).ok);
  entries.write(written);
  return {
    name,
    kind,
    entries,
    replica: createReplica({ store: entries, timers: time, priority: () => 0, forwards: kind === 'relay' }),
  };
}
const held = ({ entries }: Side) => [...entries.all.values()].reduce((sum, ofWriter) => sum + ofWriter.size, 0);
async function timed(
  time: VirtualTime,
  holds: () => boolean,
): Promise<{ readonly real: number; readonly virtual: number }> {
  const [real, virtual] = [performance.now(), time.now()];
  if (!(await time.until(holds, PATIENCE_MS))) throw new Error('they did not come together');
  return { real: performance.now() - real, virtual: time.now() - virtual };
}

/**
 * Bytes that the device sends for each document that it writes while another listens, on its
 * connections to the relay and to the other.
 */
async function steadyBytes(steady: number): Promise<{ readonly sent: number; readonly received: number }> {
  const time = createVirtualTime();
  const [relay, a, b] = [side(time, 'relay', 'relay'), side(time, 'a', 'device'), side(time, 'b', 'device')];
  const lines = [join(time, a, relay), join(time, a, b)];
  join(time, b, relay);
  await time.pass(1_000);
  const bytes = (end: 'a' | 'b') => lines.reduce((sum, { sent }) => sum + sent[end], 0);
  const before = { a: bytes('a'), b: bytes('b') };
  const writer = newWriter(keys, 'talk', random);
  for (let n = 1; n <= steady; n++) {
    const entry = sealed(writer, n, documentOf(n));
    a.entries.write([entry]);
    a.replica.wrote([entry]);
    await time.pass(100);
  }
  if (held(b) !== steady) throw new Error(`${steady - held(b)} documents did not come`);
  return { sent: (bytes('a') - before.a) / steady, received: (bytes('b') - before.b) / steady };
}

export const syncReplica = definePart({
  name: 'sync-replica',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  async run({ steady, behind, offline }) {
    const { sent, received } = await steadyBytes(steady);

    const writer = newWriter(keys, 'talk', random);
    const documents = Array.from({ length: behind }, (_none, i) => documentOf(i));
    const log = documents.map((json, i) => sealed(writer, i + 1, json));
    const copyBegan = performance.now();
    const copy = documents.map((json): unknown => JSON.parse(new TextDecoder().decode(new TextEncoder().encode(json))));
    const copyMs = performance.now() - copyBegan;
    const jsonBytes = documents.reduce((sum, json) => sum + json.length, 0) / copy.length;
    const time = createVirtualTime();
    const [relay, newcomer] = [side(time, 'relay', 'relay', log), side(time, 'new', 'device')];
    const line = join(time, newcomer, relay);
    const backlog = await timed(time, () => held(newcomer) === behind);

    const both = createVirtualTime();
    const talk = () => {
      const own = newWriter(keys, 'talk', random);
      return Array.from({ length: offline }, (_none, i) => sealed(own, i + 1, documentOf(i)));
    };
    const [hub, x, y] = [
      side(both, 'relay', 'relay'),
      side(both, 'x', 'device', talk()),
      side(both, 'y', 'device', talk()),
    ];
    join(both, x, hub);
    join(both, y, hub);
    const apart = await timed(both, () => [hub, x, y].every((each) => held(each) === 2 * offline));

    return {
      title: 'Replication',
      method: `in one process, lines of 5 ms, sealed and opened for real; documents of ${DOCUMENT_BYTES} bytes of JSON`,
      figures: [
        {
          what: 'bytes a device sends per document',
          value: sent,
          unit: '',
          beside: {
            kind: 'limit',
            what: `of ${steady}, one after the other, with a second device on relay and direct connection`,
            value: BYTES_LIMIT,
          },
        },
        {
          what: '  the same',
          value: sent,
          unit: '',
          beside: { kind: 'peer', what: 'a plain copy of the JSON', value: jsonBytes },
        },
        { what: '  bytes it is sent for it', value: received, unit: '', beside: null },
        {
          what: `a newcomer to ${behind.toLocaleString('en')} documents`,
          value: backlog.real / 1_000,
          unit: 's',
          beside: { kind: 'limit', what: 'everything here', value: BACKLOG_LIMIT_S },
        },
        {
          what: '  the same',
          value: backlog.real,
          unit: 'ms',
          beside: { kind: 'peer', what: 'the same JSON read from bytes', value: copyMs },
        },
        { what: '  in virtual time', value: backlog.virtual, unit: 'ms', beside: null },
        { what: '  bytes it sends per document', value: line.sent.a / behind, unit: '', beside: null },
        {
          what: '  bytes it is sent per document',
          value: line.sent.b / behind,
          unit: '',
          beside: { kind: 'peer', what: 'a plain copy of the JSON', value: jsonBytes },
        },
        {
          what: `two devices with ${offline} new documents each are equal after`,
          value: apart.real,
          unit: 'ms',
          beside: null,
        },
        {
          what: '  in virtual time',
          value: apart.virtual,
          unit: 'ms',
          beside: { kind: 'limit', what: 'an append seen elsewhere', value: 300 },
        },
      ],
    };
  },
});
