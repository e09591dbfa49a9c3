/**
 * Writes all that belongs to one agent into a zip. Its documents pass through memory: one agent's,
 * never the household's.
 */
import { Zip, ZipDeflate } from 'fflate';
import { parseStamp } from '../../../shared/domain/stamp.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown, kindOf } from '../../../shared/protocol/documents/kinds.ts';
import { createChunkWriter } from '../bytes.ts';
import { safeFileName } from '../file-names.ts';
import { isLook } from '../household/belongs.ts';
import { createNewest, rosterFrom } from '../household/newest.ts';
import type { Workers } from '../methods.ts';
import { pagesOf } from '../pages.ts';
import { ARCHIVE } from '../settings.ts';
import { FILES, readmeOf, type IdentityFile, byStamp } from './format.ts';

export const writeAgent: Workers['exportAgent'] = async ({ agentId, exportedAt }, { read, write }, tell) => {
  const about: Doc[] = [];
  const more: Doc[] = [];
  const sessions = new Map<string, Doc[]>();
  const newest = createNewest();
  let documents = 0;
  for await (const { docs, of } of pagesOf(read, agentId)) {
    for (const doc of docs) {
      // A folder says who somebody is, and how they look; that one household once wanted to forget
      // them is not part of it.
      if (kindOf(doc.type)?.whose === 'household' && !isLook(doc)) continue;
      documents += 1;
      const sessionId = typeof doc['sessionId'] === 'string' ? doc['sessionId'] : null;
      if (doc.type === 'agent-identity' || doc.type === 'agent-change') about.push(doc);
      else if (sessionId === null) more.push(doc);
      else {
        const said = sessions.get(sessionId);
        if (said) said.push(doc);
        else sessions.set(sessionId, [doc]);
      }
    }
    newest.take(docs);
    tell({ stage: 'documents', done: documents, of: Math.max(of, documents) });
  }
  const agent = rosterFrom(newest.now()).byId.get(agentId);
  if (!agent) throw new Error('There is nobody of this id to make a copy of.');

  const out = createChunkWriter(write, ARCHIVE.chunkBytes);
  const put = createZip(exportedAt, out.put);
  const folder = safeFileName(agent.name, 'agent');
  const identity: IdentityFile = {
    roost: 'agent',
    version: ARCHIVE.version,
    agentId,
    name: agent.name,
    exportedAt,
    documents: about.sort(byStamp),
  };
  await put.file(`${folder}/${FILES.readme}`, [readmeOf(agent.name)]);
  await put.file(`${folder}/${FILES.soul}`, [agent.soul]);
  await put.file(`${folder}/${FILES.identity}`, [`${JSON.stringify(identity, null, 2)}\n`]);
  const taken = new Set<string>();
  for (const [sessionId, docs] of [...sessions].sort(([, a], [, b]) =>
    startOf(a) === startOf(b) ? 0 : startOf(a) < startOf(b) ? -1 : 1,
  )) {
    const name = free(`${startOf(docs)}-${safeFileName(sessionId, 'session')}`, taken);
    await put.file(`${folder}/${FILES.transcripts}/${name}${FILES.transcriptEnd}`, linesOf(docs));
  }
  if (more.length > 0) await put.file(`${folder}/${FILES.more}`, linesOf(more));
  await put.end();
  await out.end();
  return { documents, bytes: out.bytes };
};

function* linesOf(docs: Doc[]): Generator<string, void, undefined> {
  for (const doc of docs.sort(byStamp)) yield `${JSON.stringify(doc)}\n`;
}

/** The day on which a session began, in UTC: when it says, or else of its first document. */
function startOf(docs: readonly Doc[]): string {
  const start = docs
    .map((doc) => (isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'start' ? doc.phase.startedAt : null))
    .find((time) => time !== null);
  const first = Math.min(...docs.map((doc) => parseStamp(doc.at)?.time ?? Number.MAX_SAFE_INTEGER));
  const date = new Date(start ?? first);
  return Number.isNaN(date.getTime()) ? 'undated' : date.toISOString().slice(0, 10).replace(/^\+0*/, '');
}

/** Names that differ in case only are one name on some systems. */
function free(name: string, taken: Set<string>): string {
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    const key = candidate.toLowerCase();
    if (taken.has(key)) continue;
    taken.add(key);
    return candidate;
  }
}

/** The years that a zip can name. */
const zipDate = (time: number) => new Date(Math.min(Math.max(time, Date.UTC(1980, 0, 2)), Date.UTC(2099, 11, 30)));

function createZip(time: number, put: (chunk: Uint8Array) => Promise<void>) {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    made.push(chunk);
  });
  const encoder = new TextEncoder();
  async function drain() {
    const chunks = made;
    made = [];
    for (const chunk of chunks) await put(chunk);
  }
  return {
    async file(path: string, texts: Iterable<string>) {
      const entry = new ZipDeflate(path, { level: 6 });
      entry.mtime = zipDate(time);
      zip.add(entry);
      for (const text of texts) {
        entry.push(encoder.encode(text));
        await drain();
      }
      entry.push(new Uint8Array(0), true);
      await drain();
    },
    async end() {
      zip.end();
      await drain();
    },
  };
}
