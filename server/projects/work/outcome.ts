/** What a call about the work on tasks comes to. */
import { GitError } from '../checkouts/index.ts';
import { WorkspaceError } from '../../files/workspaces/index.ts';
import { ForgeError } from './forge.ts';

/** Why something cannot be done, with the name of the problem. */
export interface Unable {
  readonly ok: false;
  readonly reason:
    | 'no-project'
    | 'no-task'
    | 'no-work'
    | 'projects-full'
    | 'no-request'
    | 'merge-conflict'
    | 'merge-refused'
    | 'changed-elsewhere'
    | 'unsaved'
    | 'busy'
    | 'misfit'
    | 'exists'
    | 'full'
    | 'no-such-file';
  readonly detail: string;
}
export type Done<Value> = { readonly ok: true; readonly value: Value } | Unable;

export const unable = (reason: Unable['reason'], detail: string): Unable => ({ ok: false, reason, detail });
/** A task could not be changed. */
export const unsaved = ({ reason, detail }: { readonly reason: string; readonly detail: string }): Unable =>
  unable(reason === 'projects-full' ? reason : 'no-task', detail);
export const done = <Value>(value: Value): Done<Value> => ({ ok: true, value });
export const NO_WORK = unable('no-work', 'Nobody has worked on this task yet.');
/** Git, a folder or a forge could not do it, and says why. */
export const isFault = (error: unknown) =>
  error instanceof GitError || error instanceof WorkspaceError || error instanceof ForgeError;
