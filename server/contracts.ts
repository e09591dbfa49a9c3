/**
 * What the relay's parts promise each other. Wired together in homes/team.ts; tests wire the same parts.
 */
export type { AgentState } from '../src/domain/guardrails.ts';
export type { EventLog } from './contracts/log.ts';
export type { Directory, NewInboxMessage, TakenMessage, Inbox } from './contracts/team.ts';
export type { WakeRequest, Gate, Configs, Pulses } from './contracts/gate.ts';
export type { PauseWait, Pauses } from './contracts/pauses.ts';
export type { AskLeave, Caller, DeedEnd, NoteDeed, ToolOutcome, TeamTool, Verdict } from './contracts/tools.ts';
export type { Took, RequestEnd, CostHold, CostRequest, Costs } from './contracts/costs.ts';
export type { Alone, DueCause, WakeAsked, ThreadHooks, Reach } from './contracts/reach.ts';
export type { Searches, SearchOutcome, Unanswered } from './contracts/searches.ts';
export type { PostOutcome, CallingClient, Meanwhile, SessionHost, WokenTalk } from './contracts/session.ts';
