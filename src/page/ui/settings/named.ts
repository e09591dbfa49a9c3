/**
 * The settings by name: sections, their groups, and the settings in each. The settings page, its
 * search and the palette read this. A new section needs its name in `SETTINGS_SECTIONS`
 * (`routes.ts`), an entry here, and its content in `settings-page.tsx`.
 */
import { t } from '../../language/t.ts';
import { SETTINGS_SECTIONS, type SettingsSection } from '../routes.ts';

export type SettingsGroup = (typeof SETTINGS_GROUPS)[number];
/** In display order. The last group is for developers of Roost. */
export const SETTINGS_GROUPS = [
  t`You and your team`,
  t`Waking and limits`,
  t`Models and costs`,
  t`Devices and data`,
  t`About`,
  t`Advanced`,
] as const;

interface SectionInfo {
  readonly title: string;
  readonly group: SettingsGroup;
  /** Its purpose, where only its name is visible. */
  readonly about: string;
}

export const SECTIONS: Readonly<Record<SettingsSection, SectionInfo>> = {
  people: { title: t`Names`, group: t`You and your team`, about: t`What you and the lead are called` },
  team: { title: t`Team and seats`, group: t`You and your team`, about: t`Who sits where, who retired` },
  changes: {
    title: t`What you changed`,
    group: t`You and your team`,
    about: t`Every change by its day, with an undo`,
  },
  waking: { title: t`Waking`, group: t`Waking and limits`, about: t`What is remembered, and how long to wait` },
  limits: { title: t`Limits`, group: t`Waking and limits`, about: t`What agents may do, and when` },
  prompt: { title: t`Wake prompt`, group: t`Waking and limits`, about: t`The words that wake an agent` },
  minds: { title: t`Models`, group: t`Models and costs`, about: t`Who thinks, and how long answers get` },
  costs: { title: t`Budgets and prices`, group: t`Models and costs`, about: t`What a day may cost` },
  programs: { title: t`ACP agents`, group: t`Models and costs`, about: t`Claude Code and others as a mind` },
  attached: { title: t`MCP servers`, group: t`Models and costs`, about: t`Tools from other programs` },
  clients: { title: t`API clients`, group: t`Models and costs`, about: t`Programs that act as your agents` },
  devices: { title: t`Devices`, group: t`Devices and data`, about: t`Your phone, another computer, the phrase` },
  notifications: {
    title: t`Notifications`,
    group: t`Devices and data`,
    about: t`Of what you are told, where, and when not`,
  },
  storage: { title: t`Storage`, group: t`Devices and data`, about: t`What is kept here, and how safely` },
  copies: { title: t`Export & import`, group: t`Devices and data`, about: t`Everything in one file, and back` },
  about: { title: t`About`, group: t`About`, about: t`Version, and who sees what` },
  rehearsal: { title: t`Failures to try`, group: t`Advanced`, about: t`Let the demo misbehave` },
  inside: { title: t`Inside the storage`, group: t`Advanced`, about: t`Journal, volumes and their checks` },
};

export const sectionsIn = (group: SettingsGroup, all: readonly SettingsSection[] = SETTINGS_SECTIONS) =>
  all.filter((section) => SECTIONS[section].group === group);

export interface NamedSetting {
  readonly section: SettingsSection;
  /** Its label on the page, by which it is found there. */
  readonly name: string;
  /** Other search terms. */
  readonly words?: string;
}
const named = (section: SettingsSection, name: string, words?: string): NamedSetting => ({
  section,
  name,
  ...(words === undefined ? {} : { words }),
});

export const NAMED_SETTINGS: readonly NamedSetting[] = [
  named('people', t`Your name`, t`me call`),
  named('people', t`Lead's name`, t`middle`),
  named('people', t`Language`, t`english german translation words`),
  named('team', t`In their seats`, t`move retire agents colours`),
  named('waking', t`What is remembered of the last conversation`, t`transcript memory`),
  named('waking', t`Time to wake`, t`timeout`),
  named('waking', t`Time to find a name`, t`egg hatch timeout`),
  named('waking', t`Quiet before everyone sleeps`, t`idle session end`),
  named('changes', t`What you changed`, t`log history undo revert changes before`),
  named('limits', t`Wakes`, t`a day cooldown guardrails limits`),
  named('limits', t`Quiet hours`, t`blackout night`),
  named('limits', t`Besides talk`, t`run commands shell terminal bash permission allow files web tools may`),
  named('limits', t`Room of its folder`, t`files workspace space disk gigabytes`),
  named('limits', t`Time of a command`, t`timeout seconds shell long`),
  named('limits', t`ACP agents that start at once`, t`claude code memory parallel eight`),
  named('limits', t`Time zone`, t`clock`),
  named('prompt', t`Template`, t`wake prompt words`),
  named('minds', t`Model of the lead`, t`claude ollama`),
  named('minds', t`Model of the agents`, t`claude ollama`),
  named('minds', t`Longest answer`, t`tokens`),
  named('minds', t`What the models read`, t`context window tokens`),
  named('costs', t`Daily budgets`, t`dollars money limit`),
  named('costs', t`Prices`, t`dollars tokens`),
  named('programs', t`ACP agents`, t`claude code codex gemini acp mind`),
  named('attached', t`MCP servers`, t`mcp tools`),
  named('clients', t`API clients`, t`claude code mcp credential api clients`),
  named('devices', t`A second device`, t`phone sync add join`),
  named('devices', t`A recovery phrase`, t`24 words backup`),
  named('notifications', t`Tell me on this device`, t`push phone alert notify`),
  named('notifications', t`When not to be told`, t`night do not disturb`),
  named('storage', t`Space used`, t`disk room`),
  named('storage', t`Rebuild`, t`repair missing`),
  named('copies', t`Export everything`, t`backup copy save`),
  named('copies', t`Bring something in`, t`import restore backup copy`),
  named('about', t`What stays here`, t`privacy version`),
  named('about', t`What the model sees`, t`privacy`),
  named('inside', t`Volumes`, t`fireproof damaged`),
];

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/**
 * Settings that match the input. Every word must be the beginning of one of theirs, or of their
 * section's.
 */
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
