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

export const SECTIONS: Readonly<Record<SettingsSection, string>> = {
  people: t`Names`,
  notifications: t`Notifications`,
  changes: t`What you changed`,
  about: t`About`,
  team: t`Team and seats`,
  limits: t`What agents may do`,
  minds: t`Models`,
  costs: t`Budgets and prices`,
  programs: t`ACP agents`,
  mcp: t`MCP servers`,
  clients: t`API clients`,
  devices: t`Devices`,
  storage: t`Storage`,
  exports: t`Export & import`,
  privacy: t`Privacy`,
  advanced: t`All settings`,
  prompt: t`Wake prompt`,
  rehearsal: t`Failures to try`,
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
  named('mcp', t`MCP servers`, t`mcp tools`),
  named('clients', t`API clients`, t`claude code mcp credential api clients`),
  named('devices', t`A second device`, t`phone sync add join`),
  named('devices', t`A recovery phrase`, t`24 words backup`),
  named('storage', t`Space used`, t`disk room`),
  named('storage', t`Rebuild`, t`repair missing`),
  named('exports', t`Export everything`, t`backup copy save`),
  named('exports', t`Bring something in`, t`import restore backup copy`),
  named('exports', t`Move in from another product`, t`import chatgpt claude letta openclaw export migrate`),
  named('exports', t`Limits as YAML`, t`settings text`),
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
    plain(`${name} ${words} ${SECTIONS[section]}`).split(/[^\p{L}\p{N}]+/u);
  return NAMED_SETTINGS.filter((setting) =>
    asked.every((each) => wordsOf(setting).some((word) => word.startsWith(each))),
  );
}
