/** What the person asks to forget: what it would remove, and where a sentence still is. */
import { cameFrom, type Forget, type ForgetTarget, sourceHash } from '../../shared/domain/forgetting.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { type Line, lineId, lineOrigins, linesOf, writesOf } from '../../shared/domain/memory-lines.ts';
import type { ForgetDoc } from '../../shared/protocol/documents.ts';
import type { SentencePlaces } from '../../shared/protocol/forgets.ts';
import type { Memory, MemorySource } from '../../shared/protocol/memories.ts';
import type { Covered, SentenceHere } from '../../shared/protocol/worker.ts';
import type { Parts } from './actions/parts.ts';
import { errorText, problemText } from './ports.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';

/** What a request would remove. */
export interface ForgetPreview extends Covered {
  readonly notes: readonly { readonly agentId: AgentId | null; readonly path: string; readonly text: string }[];
  /** Why the memories could not be read, as a sentence. Null: they were. */
  readonly unread: string | null;
}

/** The lines of these files that came from what the request covers. */
export const coveredNotes = (files: readonly Memory[], forget: Pick<Forget, 'target' | 'at'>): ForgetPreview['notes'] =>
  files.flatMap((file) =>
    linesOf(file).flatMap((line) =>
      lineOrigins(line, file.agentId, file.memoryId).some((origin) => cameFrom(origin, forget))
        ? [{ agentId: file.agentId, path: file.path, text: line.text }]
        : [],
    ),
  );

export async function previewForget(
  { dataWorker, clock, callRelay, household }: Pick<Parts, 'dataWorker' | 'clock' | 'callRelay' | 'household'>,
  target: ForgetTarget,
): Promise<ForgetPreview> {
  const forget = { target, at: clock.next() };
  const { roster } = household.store.getState();
  const owners = target.agentId === null ? [null, ...roster.byId.keys()] : [target.agentId];
  const reading = owners.map((agentId) => callRelay((client) => client.memories({ agentId })));
  const [covered, ...files] = await Promise.all([dataWorker.call('covered', forget), ...reading]);
  const failed = files.find((result): result is Extract<RelayResult<never>, { ok: false }> => !result.ok);
  const notes = files.flatMap((result) => (result.ok ? coveredNotes(result.value.memories, forget) : []));
  return { ...covered, notes, unread: failed ? problemText(failed.problem) : null };
}

/** A request, and what it would remove. */
export interface AskedItems {
  readonly target: Extract<ForgetDoc['target'], { kind: 'items' }>;
  readonly preview: ForgetPreview;
}

/** Everything that mentions a person or a page, or that a tool answered, and what came from it. */
export async function previewItems(
  { dataWorker, callRelay, household }: Pick<Parts, 'dataWorker' | 'callRelay' | 'household'>,
  mention: { readonly what: 'words' | 'tool'; readonly text: string },
): Promise<AskedItems> {
  const { what, text } = mention;
  const tool = what === 'tool' ? { tool: true as const } : {};
  const owners = [null, ...household.store.getState().roster.byId.keys()];
  const [mentioned, relay, ...files] = await Promise.all([
    dataWorker.call('mentioning', mention),
    callRelay((client) => client.findSentence({ body: { text, ...tool } })),
    ...owners.map((agentId) => callRelay((client) => client.memories({ agentId }))),
  ]);
  const plain = text.toLowerCase();
  const isMeant = (line: Line<MemorySource>) =>
    what === 'tool'
      ? writesOf(line).some(({ source }) => source.read.includes(text))
      : line.text.toLowerCase().includes(plain);
  const notes = files.flatMap((result) =>
    (result.ok ? result.value.memories : []).flatMap((file) =>
      linesOf(file).flatMap((line) => (isMeant(line) ? [{ file, line }] : [])),
    ),
  );
  const failed = [relay, ...files].find((result): result is Extract<RelayResult<never>, { ok: false }> => !result.ok);
  const ids = [
    ...mentioned.ids,
    ...(relay.ok ? relay.value.ids : []),
    ...notes.map(({ file, line }) => lineId(file.memoryId, line)),
  ];
  return {
    target: { kind: 'items', what, agentId: null, sources: [...new Set(ids.map(sourceHash))] },
    preview: {
      ...mentioned,
      notes: notes.map(({ file: { agentId, path }, line }) => ({ agentId, path, text: line.text })),
      unread: failed ? problemText(failed.problem) : null,
    },
  };
}

export interface SentenceFound {
  readonly here: SentenceHere;
  readonly relay: SentencePlaces | null;
  /** Why the relay was not searched, as a sentence. */
  readonly problem: string | null;
}

/** Searches everything that this browser and the relay store for a sentence. */
export async function findSentence(
  { dataWorker, callRelay }: Pick<Parts, 'dataWorker' | 'callRelay'>,
  text: string,
): Promise<{ readonly ok: true; readonly value: SentenceFound } | { readonly ok: false; readonly reason: string }> {
  try {
    const [here, relay] = await Promise.all([
      dataWorker.call('findSentence', { text }),
      callRelay((client) => client.findSentence({ body: { text } })),
    ]);
    const value = relay.ok
      ? { here, relay: relay.value, problem: null }
      : { here, relay: null, problem: problemText(relay.problem) };
    return { ok: true, value };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}
