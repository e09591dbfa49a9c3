/** Everything there is to read, in pages that a tab can hand on without being felt. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { Ports } from './methods.ts';
import { ARCHIVE } from './settings.ts';

export interface DocumentLines {
  readonly docs: readonly Doc[];
  /**
   * Each document as JSON, which never holds a line break. Halves of pairs are escaped, so UTF-8
   * takes it all.
   */
  readonly lines: readonly string[];
  readonly of: number;
}

/**
 * At least one page, which may be empty. The number asked for follows how long the documents are.
 */
export async function* pagesOf(
  read: Ports['read'],
  agentId: AgentId | null,
): AsyncGenerator<DocumentLines, void, undefined> {
  let after: string | null = null;
  let limit: number = ARCHIVE.firstPage;
  do {
    const page = await read({ after, limit, agentId });
    const lines = page.docs.map((doc) => JSON.stringify(doc));
    yield { docs: page.docs, lines, of: page.of };
    const chars = lines.reduce((sum, line) => sum + line.length, 0);
    const fitting = Math.floor((ARCHIVE.batchChars * lines.length) / Math.max(1, chars));
    limit = Math.max(1, Math.min(fitting, 2 * limit, ARCHIVE.batchDocuments));
    after = page.after;
  } while (after !== null);
}
