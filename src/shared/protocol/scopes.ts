/** Scopes of an application's credential. The person selects each one; none includes another. */
import { z } from 'zod';

export const SCOPES = ['team', 'read', 'sleep', 'wake', 'threads', 'sessions', 'schedules', 'limits'] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes of an application's credential if its creator names none. */
export const USUAL_SCOPES: readonly Scope[] = ['read', 'sleep', 'wake'];

const MEANINGS: Readonly<Record<Scope, string>> = {
  team: 'the names and seats of the agents',
  read: 'limits, routines, the timeline, and outcomes of runs with their last words',
  sleep: 'puts agents of the running session to sleep',
  wake: 'wakes agents, within their limits',
  threads: 'opens threads, and reads and writes in those that it opened; agents named there may be woken',
  sessions: 'starts a session, and ends one that it started',
  schedules: 'sets, changes and starts routines and reminders; never scripts',
  limits: 'sets limits of wakes, hours and pulses of agents; never what they may do, or spend',
};

const scopeSchema = z.enum(SCOPES).describe(SCOPES.map((scope) => `\`${scope}\`: ${MEANINGS[scope]}`).join('; '));

export const scopesSchema = z
  .array(scopeSchema)
  .max(SCOPES.length)
  .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope)));
