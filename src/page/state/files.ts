/**
 * Files in agents' folders on the relay's machine. The person views, uploads, downloads and deletes
 * them.
 */
import { fileText } from '../../shared/domain/file-text.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { t } from '../language/t.ts';
import {
  leftOutIn,
  SHOWN_BYTES,
  UPLOAD_BYTES,
  ZIP_COMMENT_MAX,
  type FolderAnswer,
} from '../../shared/protocol/endpoints/workspaces.ts';
import type { RelayProblem, RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, createQueryFamily, type Query, relayQuery } from './query.ts';

/** What is at a path now: nothing, a text, or something that is not shown. */
export type FileNow =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'large'; readonly bytes: number }
  | { readonly kind: 'other' };

/** `path`: within the agent's folder, with `/` between names; empty: the folder itself. */
export interface Files {
  folder(agentId: AgentId, path: string): Query<FolderAnswer>;
  read(agentId: AgentId, path: string): Promise<RelayResult<Blob>>;
  /** The content for viewing, reloaded with each change. Large files are not fetched. */
  now(agentId: AgentId, path: string): Query<FileNow>;
  /**
   * `leftOut`: number of files and folders that are missing in the zip. A file inside it names
   * them.
   */
  zip(agentId: AgentId, path: string): Promise<RelayResult<{ readonly file: Blob; readonly leftOut: number }>>;
  /** Uploads a file; returns null on success, otherwise the reason. */
  put(agentId: AgentId, path: string, file: Blob): Promise<string | null>;
  /** Deletes a file; returns null on success, otherwise the reason. */
  remove(agentId: AgentId, path: string): Promise<string | null>;
}

const tooLarge = t`It is larger than ${UPLOAD_BYTES / 1_000_000} MB, which is the most that one file may be here.`;

function createFiles({ callRelay, changes, device }: RoostState): Files {
  const folders = createQueryFamily((key: string) => {
    const [agentId = '', path = ''] = keyParts(key);
    return relayQuery<FolderAnswer>(
      { callRelay, changes, device },
      ['files'],
      (client) => client.files({ agentId, path }),
      { agentId },
    );
  });
  async function readFile(agentId: AgentId, path: string): Promise<RelayResult<FileNow>> {
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const listing = await callRelay((client) => client.files({ agentId, path: names.slice(0, -1).join('/') }));
    if (!listing.ok) return isNothing(listing.problem) ? { ok: true, value: { kind: 'none' } } : listing;
    const entry = listing.value.entries.find(({ name }) => name === names.at(-1));
    // The relay lists only the first files of a very large folder.
    if (!entry) return { ok: true, value: { kind: listing.value.more > 0 ? 'other' : 'none' } };
    if (entry.kind !== 'file') return { ok: true, value: { kind: 'other' } };
    if (entry.bytes > SHOWN_BYTES) return { ok: true, value: { kind: 'large', bytes: entry.bytes } };
    const file = await callRelay((client) => client.agentFiles.read(agentId, path));
    if (!file.ok) return isNothing(file.problem) ? { ok: true, value: { kind: 'none' } } : file;
    const text = fileText(new Uint8Array(await file.value.arrayBuffer()));
    return { ok: true, value: text === null ? { kind: 'other' } : { kind: 'text', text } };
  }
  const contents = createQueryFamily((key: string) => {
    const [agentId = '', path = ''] = keyParts(key);
    return createQuery<FileNow>({ changes, device, what: ['files'], agentId, ask: () => readFile(agentId, path) });
  });
  return {
    now: (agentId, path) => contents(JSON.stringify([agentId, path])),
    folder: (agentId, path) => folders(JSON.stringify([agentId, path])),
    read: (agentId, path) => callRelay((client) => client.agentFiles.read(agentId, path)),
    async zip(agentId, path) {
      const got = await callRelay((client) => client.agentFiles.zip(agentId, path));
      if (!got.ok) return got;
      const leftOut = leftOutIn(await got.value.slice(-ZIP_COMMENT_MAX).text());
      return { ok: true, value: { file: got.value, leftOut } };
    },
    async put(agentId, path, file) {
      if (file.size > UPLOAD_BYTES) return tooLarge;
      const result = await callRelay((client) => client.agentFiles.put(agentId, path, file));
      return result.ok ? null : problemText(result.problem);
    },
    async remove(agentId, path) {
      const result = await callRelay((client) => client.removeFile({ agentId, path }));
      return result.ok ? null : problemText(result.problem);
    },
  };
}

const isNothing = (problem: RelayProblem) => problem.kind === 'refused' && problem.status === 404;

/** Splits the key of a query family into its parts. */
const keyParts = (key: string): readonly string[] => {
  const parts: unknown = JSON.parse(key);
  return Array.isArray(parts) ? parts.map(String) : [];
};

/** One instance per page. */
export const filesOf = onePerPage(createFiles);
