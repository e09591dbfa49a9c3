import { SETTINGS, STOP, type SettingSpec } from './settings.ts';

/** The text of `--help`. */
export function helpText(): string {
  const rows = Object.values(SETTINGS).map((setting: SettingSpec) => {
    const value = setting.value === null ? '' : ` <${setting.value}>`;
    const name = setting.flag === null ? `${setting.env}=<${setting.value ?? ''}>` : `--${setting.flag}${value}`;
    const shown = setting.shownDefault ?? setting.default;
    const notes = [
      ...(setting.flag === null ? ['environment only'] : [setting.env]),
      ...(shown === null ? [] : [`default ${shown}`]),
    ];
    return `  ${name}\n      ${setting.help} [${notes.join('; ')}]`;
  });
  return [
    'Roost: a home for a team of agents, on this machine.',
    '',
    'npm start -- [settings]',
    '',
    ...rows,
    `  --${STOP}\n      End the relay that runs on this home, in good order: nothing that comes due until its next start is made up for.`,
    '  --help\n      Show this.',
    '',
  ].join('\n');
}
