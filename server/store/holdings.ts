/**
 * What each table is. What people or agents said, decided or set is in the ledger, in the
 * household's browsers; what the relay holds besides is leases, counters, quotas and what waits. So
 * the relay can lose its home and the household loses nothing: records are rows that a page gives
 * back.
 */
import type { Tables } from './tables.ts';

/**
 * `record`: said, decided or set; a page has it too, and gives it back. `lease`: somebody may do
 * something until it is revoked, and is let in anew. `counter`: how far, or how much. `quota`: what
 * was decided and used, by which the next is decided. `waiting`: until a browser or an agent has
 * it.
 */
export type Holding = 'record' | 'lease' | 'counter' | 'quota' | 'waiting';

export const HOLDINGS: Readonly<Record<keyof Tables, Holding>> = {
  logs: 'counter',
  events: 'waiting',
  taken: 'counter',
  inbox: 'waiting',
  inbox_attachments: 'waiting',
  codes: 'lease',
  device_codes: 'lease',
  browsers: 'lease',
  homes: 'lease',
  agents: 'record',
  configs: 'record',
  wakes: 'quota',
  wake_sessions: 'lease',
  threads: 'record',
  thread_members: 'record',
  thread_messages: 'record',
  thread_mentions: 'waiting',
  credentials: 'lease',
  usage: 'counter',
  spending: 'counter',
  reserves: 'counter',
  mcp_sessions: 'lease',
  households: 'lease',
  devices: 'lease',
  device_browsers: 'lease',
  rotations: 'lease',
  offers: 'waiting',
  offer_slots: 'waiting',
  entries: 'waiting',
  schedules: 'record',
  occurrences: 'quota',
  standing_copies: 'lease',
  model_connections: 'lease',
  agent_programs: 'lease',
  program_sessions: 'lease',
  clocks: 'counter',
  proposals: 'waiting',
  tool_calls: 'quota',
  command_contents: 'lease',
  script_texts: 'lease',
  attached: 'record',
  asked_records: 'waiting',
  notification_devices: 'lease',
  notifications: 'waiting',
  notification_sends: 'waiting',
  push_contacts: 'lease',
};
