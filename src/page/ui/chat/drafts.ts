/**
 * Drafts in the browser's storage: one for each conversation, shared by all tabs of this browser.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import type { Device } from '../../state/ports.ts';
import { DRAFT_FILES, withoutData } from '../../state/outbox/index.ts';

const key = (agentId: AgentId) => `roost-draft:${agentId}`;

export const readDraft = (browser: Device['browser'], agentId: AgentId): string => browser.read(key(agentId)) ?? '';

/** False where storage is full. The text stays on the page, but a reload would lose it. */
export const storeDraft = (browser: Device['browser'], agentId: AgentId, text: string): boolean =>
  browser.write(key(agentId), text);

/**
 * Calls `onChange` when another tab changes the value of this name. Returns a function that
 * unsubscribes.
 */
function follow(name: string, onChange: (text: string) => void): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key === name) onChange(event.newValue ?? '');
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/** Calls `onChange` when another tab changes the draft. Returns a function that unsubscribes. */
export const followDraft = (agentId: AgentId, onChange: (text: string) => void): (() => void) =>
  follow(key(agentId), onChange);

/** A file of a draft. Its bytes are in the device's file store. */
export type DraftFile = Omit<PreparedFile, 'data'>;
const filesKey = (draft: string) => `${DRAFT_FILES}${draft}`;
const isDraftFile = (value: unknown): value is DraftFile =>
  typeof value === 'object' &&
  value !== null &&
  ['attachmentId', 'name', 'mediaType', 'sha256'].every((name) => typeof Reflect.get(value, name) === 'string') &&
  typeof Reflect.get(value, 'bytes') === 'number';

/** The files attached to a draft. */
export function readDraftFiles(browser: Device['browser'], draft: string): readonly DraftFile[] {
  try {
    const value: unknown = JSON.parse(browser.read(filesKey(draft)) ?? '[]');
    return Array.isArray(value) ? value.filter(isDraftFile) : [];
  } catch {
    return [];
  }
}
export const storeDraftFiles = (browser: Device['browser'], draft: string, files: readonly DraftFile[]): boolean =>
  browser.write(filesKey(draft), files.length === 0 ? '' : JSON.stringify(files, withoutData));
export const followDraftFiles = (draft: string, onChange: () => void): (() => void) =>
  follow(filesKey(draft), onChange);
