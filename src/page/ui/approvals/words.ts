/** Describes tool calls in words. Pure. */
import { toolsetOf } from '../../../shared/domain/toolsets.ts';
import type { CommandReach, ToolCall } from '../../../shared/protocol/approvals.ts';
import { slotsBetween } from '../../../shared/domain/schedule/timing.ts';
import { createCronClock, parseTiming } from '../../../shared/protocol/timing-arguments.ts';
import type { Schedule } from '../../../shared/protocol/schedules.ts';
import { retold, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { argument } from '../chat/tool-calls.ts';
import { type Argument, mcpToolOf, hostOf, inWords, phraseOf } from '../text/tool-phrases.ts';
import { useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';

/** The input of a call, as far as it can be read. */
export function inputOf({ input }: Pick<ToolCall, 'input'>): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // Only the beginning of the input was stored.
    return {};
  }
}
export const textIn = (input: Readonly<Record<string, unknown>>, name: string): string | null => {
  const value = input[name];
  return typeof value === 'string' ? value : null;
};

/** The heading: an MCP server asks, or the agent wants to do something. */
export const asksText = (call: ToolCall, agent: string): string =>
  call.question ? t`${call.question.server} asks you something` : t`${agent} wants to ${wantsTo(call)}`;
/** Calls of these tools are about a script. */
export const SCRIPT_TOOLS: readonly string[] = ['wake_script', 'accept_script'];

const argumentIn =
  (call: Pick<ToolCall, 'input'>): Argument =>
  (key) =>
    argument(inputOf(call), key);
/** To follow “wants to”. */
export const wantsTo = (call: ToolCall): string => inWords(phraseOf(call.tool).wants, argumentIn(call));
/** What the call did, if it succeeded. */
export const didIn = (call: ToolCall): string => inWords(phraseOf(call.tool).did, argumentIn(call));

/** Whether it can do no more than its agent can: in the sandbox, without a network. */
export const isBounded = ({ tool }: Pick<ToolCall, 'tool'>, reach: CommandReach | undefined): boolean =>
  tool === 'run_command' &&
  reach?.sandboxed === true &&
  (reach.network === 'none' || (reach.network !== 'all' && reach.network.length === 0));

/** The reach of a command, by the person's setting and by the sandbox. */
function commandTouches(reach: CommandReach | undefined): string {
  if (reach?.sandboxed === false)
    return t`No sandbox: it can read, change and delete everything that the relay’s user can, and reach any network.`;
  const folder = t`Only this agent’s folder on the relay’s computer.`;
  if (reach === undefined) return folder;
  const { network } = reach;
  if (network === 'all') return t`${folder} Network: ${t`All that is public`}.`;
  if (network === 'none' || network.length === 0) return `${folder} ${t`No network.`}`;
  return t`${folder} Network: ${network.join(', ')}.`;
}

/** What an approval lets it touch. `reach`: of a command. Empty: nothing besides what is shown. */
export function touches(call: ToolCall, reach?: CommandReach): string {
  const { tool } = call;
  if (SCRIPT_TOOLS.includes(tool)) return t`It can read and change this agent’s folder.`;
  switch (toolsetOf(tool)) {
    case 'shell':
      return commandTouches(reach);
    case 'files':
      return t`Only this agent’s folder on the relay’s computer.`;
    case 'web':
      return t`Roost fetches it without your sign-ins. ${hostOf(argumentIn(call)) ?? t`The site`} will see the full address.`;
    case 'mind':
      return t`Its own program does this on the relay’s computer, with the rights of the relay’s user. No sandbox.`;
    case 'attached':
      return t`Sent to ${mcpToolOf(tool)?.server ?? t`a server`}, which you connected.`;
    case 'team':
    case 'schedule':
    case 'projects':
    case null:
      return '';
  }
}

/** The outcome. */
export function endText({ state, words, isError, question }: ToolCall): string {
  switch (state) {
    case 'asked':
      return t`waits for you`;
    case 'running':
      return t`under way`;
    case 'done':
      if (question) return t`you answered`;
      return isError ? t`failed` : t`done`;
    case 'declined':
      return t`you said no`;
    case 'withdrawn':
      return t`withdrawn${words === null ? '' : `: ${retold(words)}`}`;
    case 'stopped':
      return t`stopped`;
    case 'unknown':
      return t`not known whether it ran: the relay stopped`;
  }
}

const ALLOWED: Readonly<Record<NonNullable<ToolCall['allowedBy']>, string>> = {
  grant: t`allowed in the settings`,
  command: t`you said always`,
  once: t`you said yes, once`,
  'always-tool': t`you said always`,
  'always-command': t`you said always`,
  program: t`its ACP agent did this without asking`,
};
export const allowedText = ({ allowedBy }: ToolCall): string => (allowedBy === null ? t`nobody` : ALLOWED[allowedBy]);

// The schedule that a call requests, as its card shows it: its timing, and what it replaces.

const CRON = createCronClock();
/** Number of next moments that are listed. */
const NEXT_SHOWN = 3;

/**
 * The requested timing. `zone`: of the household; null while loading. `timing`: null if the agent's
 * input cannot be parsed. `next`: the next moments, ms since the epoch.
 */
export function useWhen(call: Pick<ToolCall, 'input' | 'askedAt'>) {
  const now = useNow(15_000);
  const limits = useQuery(useRoost().limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const input = inputOf(call);
  const of = (name: string) => textIn(input, name) ?? undefined;
  const said = { cron: of('cron'), every: of('every'), at: of('at') };
  // Relative to the moment of the request, so that a moment in the past is shown as it is.
  const read = zone === null ? null : parseTiming(said, zone, Math.min(now, call.askedAt));
  const timing = read?.ok ? read.timing : null;
  const next =
    zone === null || timing === null
      ? []
      : slotsBetween(timing, now, Infinity, { cron: CRON, zone, offset: 0 }, NEXT_SHOWN);
  return { now, zone, said: said.cron ?? said.every ?? said.at ?? '', timing, next };
}

/** The agent's existing schedule of this name; undefined: none, or still loading. */
export function useBefore({ agentId }: ToolCall, name: string | null): Schedule | undefined {
  const list = useQuery(schedulesOf(useRoost()).list);
  const all = list.kind === 'ready' ? list.value.schedules : [];
  return all.find(({ schedule }) => schedule.agentId === agentId && schedule.name === name)?.schedule;
}
