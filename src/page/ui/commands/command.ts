/** A command, in one shape for the palette, the menus, the keys and their sheet. */
import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';
import type { MenuItem } from '../design/menu.tsx';
import type { Route } from '../routes.ts';

export type Group = 'agents' | 'projects' | 'tasks' | 'files' | 'actions' | 'pages' | 'settings';

/** Group titles, in the order of the palette. */
export const GROUPS: Readonly<Record<Group, string>> = {
  agents: t`Agents`,
  projects: t`Projects`,
  tasks: t`Tasks`,
  files: t`Files`,
  actions: t`Actions`,
  pages: t`Pages`,
  settings: t`Settings`,
};

export interface Command {
  /** Never changes: the last used commands are stored by it. */
  readonly id: string;
  readonly group: Group;
  readonly label: string;
  /** The label in a menu that already names the agent. */
  readonly short?: string;
  /** Shown beside it, smaller. */
  readonly hint?: string;
  /** Other search terms. */
  readonly words?: string;
  /** As displayed. The last one is pressed, with Ctrl or ⌘ where that is listed. */
  readonly keys?: readonly string[];
  /** The command is in the header's menu. */
  readonly menu?: boolean;
  /** The palette shows it only in searches. */
  readonly whenTyped?: boolean;
  /** The command is in menus, but not available now. */
  readonly disabled?: boolean;
  readonly run: () => void;
}

/** What a command works on: the page's state, its addresses, and dialogs. */
export interface Around {
  readonly roost: RoostState;
  readonly route: Route;
  readonly go: (path: string) => void;
  /** `find`: the palette, restricted to the open conversation. */
  readonly open: (what: 'palette' | 'keys' | 'find') => void;
  /** Moves the focus there, after navigating if necessary. */
  readonly focus: (place: 'grid' | 'composer') => void;
}

export const menuItem = ({ label, short = label, hint, disabled = false, run }: Command): MenuItem => ({
  label: short,
  ...(hint === undefined ? {} : { hint }),
  disabled,
  run,
});

export type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Does this key event match the keys? A character that needs Shift counts by itself. */
export function isPressed(keys: readonly string[], { key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): boolean {
  const wanted = keys.at(-1)?.toLowerCase();
  const withCtrl = keys.includes('Ctrl');
  return key.toLowerCase() === wanted && (ctrlKey || metaKey) === withCtrl && !altKey && !(withCtrl && shiftKey);
}

/** Key names that are translated. */
const KEY_NAMES: Readonly<Record<string, string>> = { Ctrl: t`Ctrl`, Enter: t`Enter`, Shift: t`Shift` };

/** Key names as on the person's keyboard. */
export function keyNames(keys: readonly string[], platform: string = navigator.platform): readonly string[] {
  const isApple = /^(Mac|iP)/.test(platform);
  return keys.map((key) => (isApple && key === 'Ctrl' ? '⌘' : (KEY_NAMES[key] ?? key)));
}
