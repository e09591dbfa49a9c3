/** Describes tool calls in words. Pure. */
import { urlOf } from '../../../shared/domain/platform/old-browsers.ts';
import { ASKING_TOOLS, MIND_PREFIX, toolsetOf } from '../../../shared/domain/toolsets.ts';
import type { CommandReach, ToolCall } from '../../../shared/protocol/calls.ts';
import { slotsBetween } from '../../../shared/domain/schedule/timing.ts';
import { createCronClock, parseTiming } from '../../../shared/protocol/timing-arguments.ts';
import type { Schedule } from '../../../shared/protocol/schedules.ts';
import { retold, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { attachedTool } from '../chat/deeds.ts';
import { revealedCode, revealedLine } from '../text/unseen.ts';
import { useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';

/** The input of a call, as far as it can be read. */
export function inputOf({ input }: Pick<ToolCall, 'input'>): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // Only its beginning was stored.
    return {};
  }
}
export const textIn = (input: Readonly<Record<string, unknown>>, name: string): string | null => {
  const value = input[name];
  return typeof value === 'string' ? value : null;
};

/** Host of the page in the input. */
function hostIn(input: Readonly<Record<string, unknown>>): string {
  const url = urlOf(textIn(input, 'url') ?? '');
  return url === null ? t`the web` : url.host;
}

function searchesFor(words: string | null): string {
  return words === null ? t`search the web` : t`search the web for “${revealedCode(words)}”`;
}

function usesOf(name: string): string {
  const attached = attachedTool(name);
  return attached === null ? t`use ${name}` : t`use ${attached.tool} of ${attached.server}`;
}

const shownIn = (input: Readonly<Record<string, unknown>>, name: string): string => {
  const path = textIn(input, name);
  return path === null ? t`a file` : revealedCode(path);
};

/** The heading: an MCP server asks, or the agent wants to do something. */
export const asksText = (call: ToolCall, agent: string): string =>
  call.question ? t`${call.question.server} asks you something` : t`${agent} wants to ${wantsTo(call)}`;
/** Calls of these tools are about a script. */
export const SCRIPT_TOOLS: readonly string[] = ['wake_script', 'accept_script'];

/** To follow “wants to”. */
export function wantsTo(call: ToolCall): string {
  const input = inputOf(call);
  const given = textIn(input, 'path');
  const path = given === null ? null : revealedCode(given);
  switch (call.tool) {
    case 'run_command':
      return input['background'] === true ? t`run a command in the background` : t`run a command`;
    case 'write_file':
      return t`write ${path ?? t`a file`}`;
    case 'edit_file':
      return t`change ${path ?? t`a file`}`;
    case 'move_file':
      return t`move ${shownIn(input, 'from')} to ${shownIn(input, 'to')}`;
    case 'delete_file':
      return input['recursive'] === true
        ? t`delete ${path ?? t`a file`}, with all that is in it`
        : t`delete ${path ?? t`a file`}`;
    case 'read_file':
      return t`read ${path ?? t`a file`}`;
    case 'view_image':
      return t`look at ${path ?? t`a picture`}`;
    case 'fetch_page':
      return t`read a page of ${hostIn(input)}`;
    case 'web_search':
      return searchesFor(textIn(input, 'query'));
    case 'web_fetch':
      return t`read a page of ${hostIn(input)}, by its model’s provider`;
    case 'wake_schedule':
      return t`come back to a message of its own`;
    case 'list_files':
    case 'search_files':
      return t`look through its folder`;
    case 'wake_script':
      return t`have the relay run its script “${revealedLine(textIn(input, 'name') ?? '')}” by itself`;
    case 'accept_script':
      return t`run another text of its script “${revealedLine(textIn(input, 'name') ?? '')}”`;
    case 'mind__execute':
      return t`run a command, in its own program`;
    case 'mind__edit':
    case 'mind__delete':
    case 'mind__move':
      return t`change files, in its own program`;
    case 'mind__read':
    case 'mind__search':
      return t`read files, in its own program`;
    case 'mind__fetch':
      return t`fetch something from the web, in its own program`;
    default:
      return call.tool.startsWith(MIND_PREFIX) ? t`do something in its own program` : usesOf(call.tool);
  }
}

/** Whether it can do no more than its agent can: in the sandbox, without a network. */
export const isBounded = ({ tool }: Pick<ToolCall, 'tool'>, reach: CommandReach | undefined): boolean =>
  tool === 'run_command' &&
  reach?.sandboxed === true &&
  (reach.network === 'none' || (reach.network !== 'all' && reach.network.length === 0));

/** The reach of a command, by the person's setting and by the sandbox. */
function commandTouches(reach: CommandReach | undefined): string {
  if (reach?.sandboxed === false)
    return t`There is no sandbox here: it runs as whoever started the relay, can read, change and delete all that they can, and reach any network.`;
  const folder = t`It runs in the sandbox: it can read and change what lies in its own folder, and nothing else of this machine.`;
  if (reach === undefined) return folder;
  const { network } = reach;
  if (network === 'all') return t`${folder} Of the network it reaches all that is public.`;
  if (network === 'none' || network.length === 0) return t`${folder} No network.`;
  return t`${folder} Of the network it reaches ${network.join(', ')}.`;
}

/** What an approval lets it touch. `reach`: of a command. */
export function touches({ tool }: Pick<ToolCall, 'tool'>, reach?: CommandReach): string {
  if (ASKING_TOOLS.includes(tool)) return t`It can read and change what lies in its agent’s folder.`;
  switch (toolsetOf(tool)) {
    case 'shell':
      return commandTouches(reach);
    case 'files':
      return t`It touches its own folder on the relay’s machine, and nothing else.`;
    case 'web':
      return t`The relay asks for that page, with nothing that could sign anybody in. Whoever serves it learns the whole address, and what stands in it.`;
    case 'team':
      return t`It touches what agents say to each other, and whom they wake.`;
    case 'schedule':
      return t`It touches when this agent is woken.`;
    case 'projects':
      return t`It touches the tasks of its projects.`;
    case 'mind':
      return t`The program that is its mind does this by itself, on the relay’s machine, with all that whoever started the relay may do there: no sandbox is around it.`;
    case 'attached':
      return t`It is sent to a server that you have connected, which may do with it what it can.`;
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
      return t`runs`;
    case 'done':
      if (question) return t`you answered`;
      return isError ? t`it did not work` : t`done`;
    case 'declined':
      return question ? t`you declined` : t`you said no`;
    case 'withdrawn':
      return t`withdrawn${words === null ? '' : `: ${retold(words)}`}`;
    case 'stopped':
      return t`stopped before it ended`;
    case 'unknown':
      return t`not known whether it ran: the relay stopped`;
  }
}

const ALLOWED: Readonly<Record<NonNullable<ToolCall['allowedBy']>, string>> = {
  grant: t`allowed under Limits`,
  command: t`this command, allowed for always`,
  once: t`you said yes, once`,
  'always-tool': t`you said always`,
  'always-command': t`you said always, for this command`,
  program: t`nobody was asked: its own program did it`,
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
