/** What can be done or gone to: one shape for the palette, the menus, the keys and their sheet. */
import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';
import type { MenuItem } from '../parts/menu.tsx';
import type { Route } from '../routes.ts';

export type Group = 'agents' | 'actions' | 'pages' | 'settings';

/** As people read them, in the order of the palette. */
export const GROUPS: Readonly<Record<Group, string>> = {
  agents: t`Agents`,
  actions: t`Actions`,
  pages: t`Pages`,
  settings: t`Settings`,
};

export interface Command {
  /** The same for ever: what was chosen last is remembered by it. */
  readonly id: string;
  readonly group: Group;
  readonly label: string;
  /** Where the menu it stands in says already of whom it speaks. */
  readonly short?: string;
  /** Said beside it, smaller. */
  readonly hint?: string;
  /** Other words by which people look for it. */
  readonly words?: string;
  /** As they are drawn: the last one is pressed, with Ctrl or ⌘ where it is named. */
  readonly keys?: readonly string[];
  /** It stands in the header's menu. */
  readonly menu?: boolean;
  /** The palette has it only for who looks for it. */
  readonly whenTyped?: boolean;
  /** It stands in menus, and cannot be chosen now. */
  readonly disabled?: boolean;
  readonly run: () => void;
}

/** Where a command reaches: the page's state, its addresses, and what is opened over it. */
export interface Around {
  readonly roost: RoostState;
  readonly route: Route;
  readonly go: (path: string) => void;
  /** `find`: the palette, held to the conversation that is on the screen. */
  readonly open: (what: 'palette' | 'keys' | 'find') => void;
  /** Puts the focus there, and goes where it is first. */
  readonly focus: (place: 'grid' | 'composer') => void;
}

export const menuItem = ({ label, short = label, hint, disabled = false, run }: Command): MenuItem => ({
  label: short,
  ...(hint === undefined ? {} : { hint }),
  disabled,
  run,
});

export type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Is this the press that these keys mean? A sign that is reached by Shift counts by itself. */
export function isPressed(keys: readonly string[], { key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): boolean {
  const wanted = keys.at(-1)?.toLowerCase();
  const withCtrl = keys.includes('Ctrl');
  return key.toLowerCase() === wanted && (ctrlKey || metaKey) === withCtrl && !altKey && !(withCtrl && shiftKey);
}

/** What stands on keys that are named by a word, where that is another one in other languages. */
const KEY_NAMES: Readonly<Record<string, string>> = { Ctrl: t`Ctrl`, Enter: t`Enter`, Shift: t`Shift` };

/** As the keyboard before one calls them. */
export function keyNames(keys: readonly string[], platform: string = navigator.platform): readonly string[] {
  const isApple = /^(Mac|iP)/.test(platform);
  return keys.map((key) => (isApple && key === 'Ctrl' ? '⌘' : (KEY_NAMES[key] ?? key)));
}
