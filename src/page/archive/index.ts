/**
 * Copies that leave the household and come back: everything in one file, or one agent as a folder
 * of plain files in a zip. Packing and unpacking run in a worker of their own; documents come and
 * go through the functions that a caller passes in.
 */
export { adopt, aheadOf } from './agent/adopt.ts';
export { createArchive, type Archive, type ArchiveWorker } from './client.ts';
export { createConsent, isConsented, type Consents } from './household/consent.ts';
export { fieldsOf, pathOf, withFields } from '../../shared/protocol/records.ts';
export { agentFileName, conversationFileName, householdFileName, safeFileName } from './file-names.ts';
export { ArchiveError } from './problem.ts';
export { ARCHIVE } from './settings.ts';
export { spawnArchiveWorker } from './client.ts';
export type {
  AgentWarning,
  ArchiveChange,
  ArchiveConflict,
  ArchiveImport,
  ArchivedAgent,
  ArchivePreview,
  ArchiveProgress,
  Exported,
  Imported,
  OpenedArchive,
  ParsedAgent,
  PreviewPorts,
} from './types.ts';
