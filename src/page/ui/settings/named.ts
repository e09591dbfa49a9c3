/**
 * The settings by name: pages, their parts, and the settings in each. The settings page, its search
 * and the palette read this. A new part needs its name in `SETTINGS_PAGES` (`pages.ts`), an entry
 * here, and its content in `settings-page.tsx`.
 */
import { SETTING_TABLE } from '../../../shared/domain/setting-table.ts';
import { retold, t } from '../../language/t.ts';
import type { SettingsPageName, SettingsSection } from './pages.ts';

interface SectionInfo {
  readonly title: string;
  /** Its purpose, where only its name is visible. */
  readonly about: string;
}

export const PAGES: Readonly<Record<SettingsPageName, SectionInfo>> = {
  you: { title: t`You`, about: t`Names, language, notifications` },
  team: { title: t`Team`, about: t`Seats, retired agents` },
  agents: { title: t`What agents may do`, about: t`How far, how lively, quiet hours, budget` },
  models: { title: t`Models and money`, about: t`Models, connections, prices` },
  data: { title: t`Devices and data`, about: t`Your devices, storage, export` },
  privacy: { title: t`Privacy`, about: t`Forget, and search for what is left` },
  advanced: { title: t`Advanced`, about: t`Every limit in one table` },
};

export const SECTIONS: Readonly<Record<SettingsSection, SectionInfo>> = {
  people: { title: t`Names`, about: t`What you and the lead are called` },
  notifications: { title: t`Notifications`, about: t`What reaches this device, and when` },
  changes: { title: t`What you changed`, about: t`Every change, with undo` },
  about: { title: t`About`, about: t`Version, and who sees what` },
  team: { title: t`Team and seats`, about: t`Seats, retired agents` },
  limits: { title: t`What agents may do`, about: t`How far, how lively, quiet hours, budget` },
  minds: { title: t`Models`, about: t`The lead’s and the agents’ model` },
  costs: { title: t`Budgets and prices`, about: t`Dollars a day, and per token` },
  programs: { title: t`ACP agents`, about: t`Claude Code, Codex and others` },
  attached: { title: t`MCP servers`, about: t`Tools of other programs` },
  clients: { title: t`API clients`, about: t`Programs that act as your agents` },
  devices: { title: t`Devices`, about: t`Phone, second computer, recovery phrase` },
  storage: { title: t`Storage`, about: t`Space used, and how safe it is` },
  copies: { title: t`Export & import`, about: t`Everything in one file` },
  privacy: { title: t`Privacy`, about: t`Forget, and search for what is left` },
  advanced: { title: t`All settings`, about: t`Everybody’s and each agent’s` },
  prompt: { title: t`Wake prompt`, about: t`What an agent reads first` },
  rehearsal: { title: t`Failures to try`, about: t`Let the demo misbehave` },
};

export interface NamedSetting {
  readonly section: SettingsSection;
  /** Its label on the page, by which it is found there. */
  readonly name: string;
  /** Other search terms. */
  readonly words?: string;
}
const named = (section: SettingsSection, name: string, words: string): NamedSetting => ({ section, name, words });

/** Settings with a control of their own. */
const OWN: readonly NamedSetting[] = [
  named('people', t`Your name`, t`me call`),
  named('people', t`Lead's name`, t`middle`),
  named('people', t`Language`, t`english german translation words`),
  named('notifications', t`Tell me on this device`, t`push phone alert notify`),
  named('notifications', t`When not to be told`, t`night do not disturb`),
  named('changes', t`What you changed`, t`log history undo revert changes before`),
  named('about', t`What stays here`, t`privacy version`),
  named('about', t`What the model sees`, t`privacy`),
  named('team', t`In their seats`, t`move retire agents colours`),
  named('limits', t`How far it may go`, t`permission allow files run commands terminal bash sandbox shell`),
  named('limits', t`How lively`, t`wakes careful normal brisk`),
  named('limits', t`Quiet hours`, t`blackout night`),
  named('limits', t`Time zone`, t`clock`),
  named('limits', t`Budget a day`, t`dollars money limit`),
  named('minds', t`Model of the lead`, t`claude ollama`),
  named('minds', t`Model of the agents`, t`claude ollama`),
  named('costs', t`Daily budgets`, t`dollars money limit`),
  named('costs', t`Prices`, t`dollars tokens`),
  named('programs', t`ACP agents`, t`claude code codex gemini acp mind`),
  named('attached', t`MCP servers`, t`mcp tools`),
  named('clients', t`API clients`, t`claude code mcp credential api clients`),
  named('devices', t`A second device`, t`phone sync add join`),
  named('devices', t`A recovery phrase`, t`24 words backup`),
  named('storage', t`Space used`, t`disk room`),
  named('storage', t`Rebuild`, t`repair missing`),
  named('copies', t`Export everything`, t`backup copy save`),
  named('copies', t`Bring something in`, t`import restore backup copy`),
  named('copies', t`Limits as YAML`, t`settings text`),
  named('privacy', t`Forget a span of time`, t`delete remove erase`),
  named('privacy', t`What was forgotten`, t`delete log history`),
  named('privacy', t`Search everything for a sentence`, t`find still where privacy`),
  named('prompt', t`Template`, t`wake prompt words`),
];

export const NAMED_SETTINGS: readonly NamedSetting[] = [
  ...OWN,
  ...SETTING_TABLE.filter(({ group }) => group !== null).map(({ label, words = '' }) =>
    named('advanced', retold(label), words === '' ? '' : retold(words)),
  ),
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
