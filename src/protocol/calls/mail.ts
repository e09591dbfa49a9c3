/** Calls of the team and its inboxes. */
import type { Call } from './call.ts';

export const MAIL_CALLS: readonly Call[] = [];
