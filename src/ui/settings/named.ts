/**
 * The settings by what they are called: sections, their groups, and what stands in each. The page of settings, its search
 * and the palette are read from here. A new section is its name in `SETTINGS_SECTIONS` (`routes.ts`), its line here,
 * and what it shows in `settings-page.tsx`.
 */
import { SETTINGS_SECTIONS, type SettingsSection } from '../routes.ts';

export type SettingsGroup = (typeof SETTINGS_GROUPS)[number];
/** In this order; the last holds what only who builds Roost understands. */
export const SETTINGS_GROUPS = [
  'You and your team',
  'Waking and limits',
  'Models and costs',
  'Devices and data',
  'About',
  'Advanced',
] as const;

interface SectionInfo {
  readonly title: string;
  readonly group: SettingsGroup;
  /** What it is for, where only its name is seen. */
  readonly about: string;
}

export const SECTIONS: Readonly<Record<SettingsSection, SectionInfo>> = {
  people: { title: 'Names', group: 'You and your team', about: 'What you and the lead are called' },
  team: { title: 'Team and seats', group: 'You and your team', about: 'Who sits where, who retired' },
  waking: { title: 'Waking', group: 'Waking and limits', about: 'What is remembered, and how long to wait' },
  limits: { title: 'Limits', group: 'Waking and limits', about: 'What agents may do, and when' },
  prompt: { title: 'Wake prompt', group: 'Waking and limits', about: 'The words that wake an agent' },
  minds: { title: 'Models', group: 'Models and costs', about: 'Who thinks, and how long answers get' },
  costs: { title: 'Budgets and prices', group: 'Models and costs', about: 'What a day may cost' },
  programs: { title: 'Agent programs', group: 'Models and costs', about: 'Claude Code and others as a mind' },
  attached: { title: 'Attached servers', group: 'Models and costs', about: 'Tools from other programs' },
  clients: { title: 'Other programs', group: 'Models and costs', about: 'Programs that act as your agents' },
  devices: { title: 'Devices', group: 'Devices and data', about: 'Your phone, another computer, the phrase' },
  notifications: {
    title: 'Notifications',
    group: 'Devices and data',
    about: 'Of what you are told, where, and when not',
  },
  storage: { title: 'Storage', group: 'Devices and data', about: 'What is kept here, and how safely' },
  copies: { title: 'Export & import', group: 'Devices and data', about: 'Everything in one file, and back' },
  about: { title: 'About', group: 'About', about: 'Version, and who sees what' },
  rehearsal: { title: 'Failures to try', group: 'Advanced', about: 'Let the demo misbehave' },
  inside: { title: 'Inside the storage', group: 'Advanced', about: 'Journal, volumes and their checks' },
};

export const sectionsIn = (group: SettingsGroup, all: readonly SettingsSection[] = SETTINGS_SECTIONS) =>
  all.filter((section) => SECTIONS[section].group === group);

export interface NamedSetting {
  readonly section: SettingsSection;
  /** As it is called where it stands: there it is looked for by this. */
  readonly name: string;
  /** Other words by which people look for it. */
  readonly words?: string;
}
const named = (section: SettingsSection, name: string, words?: string): NamedSetting => ({
  section,
  name,
  ...(words === undefined ? {} : { words }),
});

export const NAMED_SETTINGS: readonly NamedSetting[] = [
  named('people', 'Your name', 'me call'),
  named('people', "Lead's name", 'middle'),
  named('team', 'In their seats', 'move retire agents colours'),
  named('waking', 'What is remembered of the last conversation', 'transcript memory'),
  named('waking', 'Time to wake', 'timeout'),
  named('waking', 'Time to find a name', 'egg hatch timeout'),
  named('waking', 'Quiet before everyone sleeps', 'idle session end'),
  named('limits', 'Wakes', 'a day cooldown guardrails limits'),
  named('limits', 'Quiet hours', 'blackout night'),
  named('limits', 'Besides talk', 'files commands web tools may'),
  named('limits', 'Time zone', 'clock'),
  named('prompt', 'Template', 'wake prompt words'),
  named('minds', 'Model of the lead', 'claude ollama'),
  named('minds', 'Model of the agents', 'claude ollama'),
  named('minds', 'Longest answer', 'tokens'),
  named('minds', 'What the models read', 'context window tokens'),
  named('costs', 'Daily budgets', 'dollars money limit'),
  named('costs', 'Prices', 'dollars tokens'),
  named('programs', 'Agent programs', 'claude code codex gemini acp mind'),
  named('attached', 'Attached servers', 'mcp tools'),
  named('clients', 'Other programs', 'claude code mcp credential api clients'),
  named('devices', 'A second device', 'phone sync add join'),
  named('devices', 'A recovery phrase', '24 words backup'),
  named('notifications', 'Tell me on this device', 'push phone alert notify'),
  named('notifications', 'When not to be told', 'night do not disturb'),
  named('storage', 'Space used', 'disk room'),
  named('storage', 'Rebuild', 'repair missing'),
  named('copies', 'Export everything', 'backup copy save'),
  named('copies', 'Bring something in', 'import restore backup copy'),
  named('about', 'What stays here', 'privacy version'),
  named('about', 'What the model sees', 'privacy'),
  named('inside', 'Volumes', 'fireproof damaged'),
];

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Settings that fit what is typed; every word must begin one of theirs, or their section's. */
export function settingsNamed(typed: string): readonly NamedSetting[] {
  const asked = plain(typed)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (asked.length === 0) return [];
  const wordsOf = ({ section, name, words = '' }: NamedSetting) =>
    plain(`${name} ${words} ${SECTIONS[section].title}`).split(/[^\p{L}\p{N}]+/u);
  return NAMED_SETTINGS.filter((setting) =>
    asked.every((each) => wordsOf(setting).some((word) => word.startsWith(each))),
  );
}
