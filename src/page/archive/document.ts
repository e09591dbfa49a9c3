import { deeperThan } from '../../shared/domain/deeper-than.ts';
import { sentence } from '../../shared/domain/sentence.ts';
import { parseDocument, type Doc } from '../../shared/protocol/documents.ts';
import { ArchiveError } from './problem.ts';
import { ARCHIVE } from './settings.ts';

/**
 * Throws where `value` is no document, and an `ArchiveError` where it is too deep to be handed on:
 * the engine would end at it with words of its own. The parser's own answer would be an equal one
 * with its fields in another order; this leaves it as it was written.
 */
export function assertDocument(value: unknown): asserts value is Doc {
  if (deeperThan(value, ARCHIVE.depth))
    throw new ArchiveError(
      'damaged',
      sentence`A document in this file is nested more than ${ARCHIVE.depth} levels deep. Roost writes none like it.`,
    );
  parseDocument(value);
}
