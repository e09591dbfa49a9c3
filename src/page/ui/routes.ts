/**
 * The page's addresses. The URL names everything on screen: every route can be linked to and
 * reloaded.
 */
import { useLocation } from 'wouter';
import type { AgentId, MessageId, ProjectId, RunId, TaskId, ThreadId } from '../../shared/domain/ids.ts';
import { isSeatPosition, LEAD_ID, seatNumber, type SeatPosition } from '../../shared/domain/seat.ts';
import {
  pageOfSection,
  partsOfPage,
  SETTINGS_PAGE_NAMES,
  SETTINGS_SECTIONS,
  type SettingsSection,
} from './settings/pages.ts';

/** Sections of earlier versions, whose addresses still work. */
const OLD_SECTIONS: Readonly<Record<string, SettingsSection>> = { waking: 'advanced', inside: 'storage' };

function settingsPath(section: SettingsSection): string {
  const page = pageOfSection(section);
  return `/settings/${page}${partsOfPage(page)[0] === section ? '' : `/${section}`}`;
}

/** The tabs of an agent's page, as in its address, in display order. */
export const PORTRAIT_TABS = ['about', 'conversations', 'activity', 'costs', 'more'] as const;
export type PortraitTab = (typeof PORTRAIT_TABS)[number];

/** The tabs of the log, as in its address, in display order. */
export const ACTIVITY_KINDS = ['all', 'wakes', 'runs', 'calls', 'changes', 'costs'] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

const agentPath = (agentId: AgentId) => (agentId === LEAD_ID ? '/lead' : `/agent/${encodeURIComponent(agentId)}`);

/**
 * How a project is shown. `columnId`: the column that a phone shows; null: the first with tasks.
 */
export type ProjectPlace = { readonly view: 'board'; readonly columnId: string | null } | { readonly view: 'list' };
export const BOARD: ProjectPlace = { view: 'board', columnId: null };

const projectPath = (projectId: ProjectId) => `/projects/${encodeURIComponent(projectId)}`;
function placePath(place: ProjectPlace): string {
  if (place.view === 'list') return '/list';
  return place.columnId === null ? '' : `/column/${encodeURIComponent(place.columnId)}`;
}

export const PATHS = {
  hearth: '/',
  /** What waits for the person, and what is new. */
  inbox: '/inbox',
  /** What happened while the person was away, even if it was dismissed. */
  morning: '/morning',
  agent: agentPath,
  /** The agent's soul, memory, dreams and exams. */
  about: (agentId: AgentId) => `${agentPath(agentId)}/about`,
  /** Its exams. Begins one where none waits. */
  continuity: (agentId: AgentId) => `${agentPath(agentId)}/about#continuity`,
  /**
   * A tab of an agent's page. `day`: its conversations from that day backwards, as `2026-11-21`.
   */
  portrait: (agentId: AgentId, tab: PortraitTab, day: string | null = null) =>
    `${agentPath(agentId)}/${tab}${day === null ? '' : `/${encodeURIComponent(day)}`}`,
  /** One message of a conversation. */
  message: (agentId: AgentId, messageId: MessageId) => `${agentPath(agentId)}/at/${encodeURIComponent(messageId)}`,
  /** Its name, colour, face and model. */
  change: (agentId: AgentId) => `${agentPath(agentId)}/change`,
  /** Its complete inbox. */
  agentInbox: (agentId: AgentId) => `${agentPath(agentId)}/inbox`,
  /** The log of wakes, runs, tool calls, changes and costs, of one agent or of all. */
  activity: (kind: ActivityKind = 'all', agentId: AgentId | null = null) =>
    `/activity/${kind}${agentId === null ? '' : `/${encodeURIComponent(agentId)}`}`,
  /** Without a section: the list of all. `name`: jumps to the setting of this name. */
  settings: (section: SettingsSection | null = null, name: string | null = null) =>
    `${section === null ? '/settings' : settingsPath(section)}${name === null ? '' : `#${encodeURIComponent(name)}`}`,
  /** What an agent may do, which overrides what everybody may. */
  limits: (agentId: AgentId | null) => `/settings/agents${agentId === null ? '' : `/${encodeURIComponent(agentId)}`}`,
  /** Every setting, with those of this agent beside those of everybody. */
  advanced: (agentId: AgentId | null) =>
    `/settings/advanced${agentId === null ? '' : `/of/${encodeURIComponent(agentId)}`}`,
  /** Adopts an agent from a file into this empty seat. */
  adopt: (position: SeatPosition) => `/adopt/${seatNumber(position)}`,
  threads: '/threads',
  thread: (threadId: ThreadId) => `/threads/${encodeURIComponent(threadId)}`,
  /** One message of a thread. */
  threadMessage: (threadId: ThreadId, messageId: MessageId) =>
    `/threads/${encodeURIComponent(threadId)}/at/${encodeURIComponent(messageId)}`,
  /** A new thread, with these agents selected. */
  newThread: (agentIds: readonly AgentId[] = []) =>
    ['/threads/new', ...(agentIds.length > 0 ? [agentIds.map(encodeURIComponent).join(',')] : [])].join('/'),
  /** The threads in which this agent takes part. */
  threadsOf: (agentId: AgentId) => `/threads/of/${encodeURIComponent(agentId)}`,
  /** One message to everybody who is awake, with the answers side by side. */
  everyone: '/everyone',
  projects: '/projects',
  newProject: '/projects/new',
  /** A project as a board or as a list, or on a phone one column of its board. */
  project: (projectId: ProjectId, place: ProjectPlace = BOARD) => `${projectPath(projectId)}${placePath(place)}`,
  /** A task, over its project. */
  task: (projectId: ProjectId, taskId: TaskId) => `${projectPath(projectId)}/task/${encodeURIComponent(taskId)}`,
  /** The review of the task with this number. */
  review: (projectId: ProjectId, taskNumber: number) => `${projectPath(projectId)}/${taskNumber}/review`,
  projectSettings: (projectId: ProjectId) => `${projectPath(projectId)}/settings`,
  /** Schedules and runs, of one agent or of all. */
  schedule: (agentId: AgentId | null = null) =>
    agentId === null ? '/schedule' : `/schedule/${encodeURIComponent(agentId)}`,
  /**
   * An agent's folder on the relay's machine, or one below it. `agentId` null: no agent is chosen
   * yet.
   */
  files: (agentId: AgentId | null, folder = '') =>
    [
      '/files',
      ...(agentId === null ? [] : [encodeURIComponent(agentId), ...partsOf(folder).map(encodeURIComponent)]),
    ].join('/'),
  /** What was changed in an agent’s files; `point`: opened. */
  fileHistory: (agentId: AgentId, point: string | null = null) =>
    `/file-history/${encodeURIComponent(agentId)}${point === null ? '' : `/${encodeURIComponent(point)}`}`,
  /** The same, with what this run changed opened. */
  filesOfRun: (agentId: AgentId, runId: RunId) =>
    `/file-history/${encodeURIComponent(agentId)}/run/${encodeURIComponent(runId)}`,
  /** Brings the past with another product. */
  moveIn: '/move-in',
  preview: '/wake-preview',
  /** Selects sleeping agents to wake. */
  wakeSome: '/wake-some',
  connect: '/connect',
} as const;

/** The names of a path within a folder. */
const partsOf = (folder: string) => folder.split('/').filter((part) => part !== '');

/** What is open over a project. A review takes the whole page. */
export type OverProject =
  | { readonly kind: 'task'; readonly taskId: TaskId }
  | { readonly kind: 'review'; readonly taskNumber: number }
  | { readonly kind: 'settings' };

export type ProjectsRoute =
  | { readonly kind: 'projects'; readonly isNew: boolean }
  /** `place` null: as it was shown before; a dialog is over it. */
  | {
      readonly kind: 'project';
      readonly projectId: ProjectId;
      readonly place: ProjectPlace | null;
      readonly over: OverProject | null;
    };

export type Route =
  | { readonly kind: 'hearth' | 'morning' }
  /**
   * `over`: a dialog over the conversation, with its inbox or its settings. `at`: the message that
   * is searched for.
   */
  | {
      readonly kind: 'agent';
      readonly agentId: AgentId;
      readonly over: 'inbox' | 'change' | null;
      readonly at: string | null;
    }
  /** `day`: as in the address; it may be invalid. */
  | {
      readonly kind: 'portrait';
      readonly agentId: AgentId;
      readonly tab: PortraitTab;
      readonly day: string | null;
    }
  | { readonly kind: 'inbox' }
  | { readonly kind: 'activity'; readonly tab: ActivityKind; readonly agentId: AgentId | null }
  /**
   * `section` null: the list of pages. `agentId`: whose limits; null: the household's, and every
   * other section.
   */
  | { readonly kind: 'settings'; readonly section: SettingsSection | null; readonly agentId: AgentId | null }
  /** `of`: only this agent's threads. `begin`: a new thread with these agents. */
  | {
      readonly kind: 'threads';
      readonly threadId: ThreadId | null;
      readonly at: string | null;
      readonly of: string | null;
      readonly begin: readonly string[] | null;
    }
  | ProjectsRoute
  | { readonly kind: 'everyone' }
  | { readonly kind: 'move-in' }
  | { readonly kind: 'schedule'; readonly agentId: AgentId | null }
  | { readonly kind: 'files'; readonly agentId: AgentId | null; readonly folder: string }
  /** `point`, `run`: opened. */
  | {
      readonly kind: 'file-history';
      readonly agentId: AgentId;
      readonly point: string | null;
      readonly run: string | null;
    }
  | { readonly kind: 'adopt'; readonly position: SeatPosition }
  | { readonly kind: 'preview' }
  | { readonly kind: 'wake-some' }
  | { readonly kind: 'connect' };

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    // A hand-written address with a stray "%". It is looked up as it is, and not found.
    if (error instanceof URIError) return part;
    throw error;
  }
}

const HEARTH = { kind: 'hearth' } as const;
const atOf = (part: string, messageId: string) => (part === 'at' && messageId !== '' ? decoded(messageId) : null);
const overOf = (part: string) => (part === 'inbox' || part === 'change' ? part : null);

/** Names of tabs in earlier versions. */
const EARLIER_TABS: Partial<Record<PortraitTab, string>> = { about: 'soul', activity: 'deeds' };

function agentRoute(agentId: AgentId, second: string, third: string): Route {
  const tab = PORTRAIT_TABS.find((one) => one === second || EARLIER_TABS[one] === second);
  if (tab !== undefined) return { kind: 'portrait', agentId, tab, day: third === '' ? null : decoded(third) };
  return { kind: 'agent', agentId, over: overOf(second), at: atOf(second, third) };
}

function threadsRoute(second: string, third: string, fourth: string): Route {
  const route = { kind: 'threads', threadId: null, at: null, of: null, begin: null } as const;
  if (second === 'new') return { ...route, begin: third === '' ? [] : third.split(',').map(decoded) };
  if (second === 'of' && third !== '') return { ...route, of: decoded(third) };
  return { ...route, threadId: second === '' ? null : decoded(second), at: atOf(third, fourth) };
}

function projectsRoute(second: string, third: string, fourth: string): Route {
  if (second === '' || second === 'new') return { kind: 'projects', isNew: second === 'new' };
  const route = { kind: 'project', projectId: decoded(second), place: null, over: null } as const;
  if (third === 'settings') return { ...route, over: { kind: 'settings' } };
  if (third === 'task' && fourth !== '') return { ...route, over: { kind: 'task', taskId: decoded(fourth) } };
  if (/^[1-9]\d*$/.test(third) && fourth === 'review')
    return { ...route, over: { kind: 'review', taskNumber: Number(third) } };
  if (third === 'list') return { ...route, place: { view: 'list' } };
  return {
    ...route,
    place: third === 'column' && fourth !== '' ? { view: 'board', columnId: decoded(fourth) } : BOARD,
  };
}

/**
 * The present address of a page that had another one; null: this address is present. Bookmarks and
 * stored notifications have old ones.
 */
export function movedPath(path: string): string | null {
  const [, first = '', second = ''] = path.split('/');
  const agentId = second === '' ? null : decoded(second);
  switch (first) {
    case 'night':
      return PATHS.schedule(agentId);
    case 'approvals':
      return PATHS.inbox;
    case 'wakes':
      return PATHS.activity('wakes', agentId);
    case 'costs':
      return PATHS.activity('costs');
    default:
      return null;
  }
}

function settingsRoute(second: string, third: string, fourth: string): Route {
  const page = SETTINGS_PAGE_NAMES.find((one) => one === second);
  const part = page === undefined ? undefined : partsOfPage(page).find((one) => one === third);
  const named = SETTINGS_SECTIONS.find((one) => one === second) ?? OLD_SECTIONS[second];
  const section = part ?? named ?? (page === undefined ? null : (partsOfPage(page)[0] ?? null));
  const agentId = section === 'limits' ? third : section === 'advanced' && third === 'of' ? fourth : '';
  return { kind: 'settings', section, agentId: agentId === '' ? null : decoded(agentId) };
}

export function routeOf(address: string): Route {
  const path = movedPath(address) ?? address;
  const [, first = '', second = '', third = '', fourth = ''] = path.split('/');
  if (first === 'lead') return agentRoute(LEAD_ID, second, third);
  if (first === 'agent' && second !== '') return agentRoute(decoded(second), third, fourth);
  if (first === 'inbox') return { kind: 'inbox' };
  if (first === 'activity')
    return {
      kind: 'activity',
      tab: ACTIVITY_KINDS.find((one) => one === second) ?? 'all',
      agentId: third === '' ? null : decoded(third),
    };
  if (first === 'settings') return settingsRoute(second, third, fourth);
  if (first === 'threads') return threadsRoute(second, third, fourth);
  if (first === 'projects') return projectsRoute(second, third, fourth);
  if (first === 'everyone') return { kind: 'everyone' };
  if (first === 'move-in') return { kind: 'move-in' };
  if (first === 'schedule') return { kind: 'schedule', agentId: second === '' ? null : decoded(second) };
  if (first === 'files')
    return {
      kind: 'files',
      agentId: second === '' ? null : decoded(second),
      folder: path
        .split('/')
        .slice(3)
        .map(decoded)
        .filter((part) => part !== '')
        .join('/'),
    };
  if (first === 'file-history' && second !== '') {
    const run = third === 'run' && fourth !== '' ? decoded(fourth) : null;
    const point = third === '' || run !== null ? null : decoded(third);
    return { kind: 'file-history', agentId: decoded(second), point, run };
  }
  if (first === 'adopt') {
    const position = Number(second) - 1;
    return isSeatPosition(position) ? { kind: 'adopt', position } : HEARTH;
  }
  if (first === 'wake-preview') return { kind: 'preview' };
  if (first === 'wake-some') return { kind: 'wake-some' };
  if (first === 'connect') return { kind: 'connect' };
  return first === 'morning' ? { kind: 'morning' } : HEARTH;
}

export function useRoute(): { route: Route; go: (path: string, how?: { readonly replace: boolean }) => void } {
  const [path, go] = useLocation();
  return { route: routeOf(path), go };
}
