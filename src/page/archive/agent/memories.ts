/**
 * The documents in an agent's folder. What is not one of Roost's is left out, with a word about it.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import { parseJson } from '../../../shared/domain/platform/json.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { kindOf } from '../../../shared/protocol/documents/kinds.ts';
import { assertDocument } from '../document.ts';
import { belongsTo, isLook } from '../household/belongs.ts';
import { ArchiveError } from '../problem.ts';
import { ARCHIVE } from '../settings.ts';
import type { AgentWarning } from '../types.ts';
import { identityFileSchema } from './format.ts';
import { readText } from './text.ts';
import type { ZipEntry } from './zip.ts';

const NOBODY: ReadonlyMap<string, string> = new Map();

/**
 * Why a value is no document of this agent, or null: it is one. A file about one agent brings
 * nothing of others.
 */
function faultOf(value: unknown, agentId: AgentId): string | null {
  try {
    assertDocument(value);
  } catch (error) {
    return errorMessage(error);
  }
  const whose = kindOf(value.type)?.whose ?? 'agent';
  if (whose === 'everybody') return null;
  if (whose === 'household' && !isLook(value)) return 'a household’s own document';
  return belongsTo(value, NOBODY) === agentId ? null : 'a document of somebody else';
}

function goodOf(values: readonly unknown[], agentId: AgentId, path: string, warnings: AgentWarning[]): Doc[] {
  const good: Doc[] = [];
  const faults: string[] = [];
  for (const value of values) {
    const fault = faultOf(value, agentId);
    if (fault === null) {
      assertDocument(value);
      good.push(value);
    } else faults.push(fault);
  }
  if (faults.length > 0)
    warnings.push({
      kind: 'unreadable',
      path,
      reason: sentence`${faults.length} of ${values.length} entries are not documents of this agent (the first: ${faults[0] ?? ''})`,
    });
  return good;
}

/** Who it is; null where the file is not one of Roost's. Rejects where a newer Roost wrote it. */
export async function readIdentity(
  entry: ZipEntry,
  warnings: AgentWarning[],
): Promise<{ agentId: AgentId; documents: Doc[] } | null> {
  const refuse = (reason: string) => {
    warnings.push({ kind: 'unreadable', path: entry.path, reason });
    return null;
  };
  const value = parseJson(readText(await entry.read())?.text ?? '');
  const parsed = identityFileSchema.safeParse(value);
  if (!parsed.success) return refuse(sentence`it is not one of Roost’s`);
  const { version, agentId } = parsed.data;
  if (version > ARCHIVE.version)
    throw new ArchiveError(
      'newer-version',
      sentence`A newer Roost made this zip. Update Roost here, and choose it again; or pack its SOUL.md alone.`,
    );
  const documents = goodOf(parsed.data.documents, agentId, entry.path, warnings);
  return documents.some(({ type }) => type === 'agent-identity')
    ? { agentId, documents }
    : refuse(sentence`it does not say who was born`);
}

/** The documents of a transcript, one a line. Without an identity nobody knows whose they are. */
export async function readLines(entry: ZipEntry, agentId: AgentId | null, warnings: AgentWarning[]): Promise<Doc[]> {
  if (agentId === null) {
    warnings.push({
      kind: 'unreadable',
      path: entry.path,
      reason: sentence`there is no identity.json that says whose words these are`,
    });
    return [];
  }
  const lines = (readText(await entry.read())?.text ?? '').split('\n').filter((line) => line.trim() !== '');
  return goodOf(lines.map(parseJson), agentId, entry.path, warnings);
}
