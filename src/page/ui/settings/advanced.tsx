/** Settings: every limit in one table, everybody's and those of one agent. */
import { type ReactNode, useId, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isRecord } from '../../../shared/domain/platform/json.ts';
import {
  type Setting,
  SETTING_GROUPS,
  SETTING_TABLE,
  type SettingGroup,
} from '../../../shared/domain/setting-table.ts';
import { DEFAULT_SETTINGS, isSettingValue, type SettingKey } from '../../../shared/domain/settings.ts';
import { singlesBeside, TOOLSETS, type Toolset } from '../../../shared/domain/toolsets.ts';
import { agentConfigSchema, householdConfigSchema } from '../../../shared/protocol/config.ts';
import { effectiveConfig } from '../../../shared/protocol/effective.ts';
import { networkSchema } from '../../../shared/protocol/grants.ts';
import { retold, t } from '../../language/t.ts';
import type { Done } from '../../state/actions/parts.ts';
import { HOLDS_AT_ONCE } from '../../state/running-settings.ts';
import { programsOf } from '../../state/programs.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { AgentOptions } from '../parts/choices.tsx';
import { useDraft } from '../design/field.tsx';
import { List, Row } from '../design/list.tsx';
import { useQuery } from '../hooks.ts';
import { changeLimits } from '../limits/limits.ts';
import { HostsField } from '../limits/hosts-field.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { numberText } from '../text/record-changes.ts';
import { revealedCode } from '../text/unseen.ts';
import { GRANTS, NETWORKS } from '../text/value-names.ts';
import { useNames } from '../use-somebody.ts';
import { useTold } from './told.ts';
import './advanced.css';

/** The value at a place of a configuration; undefined: nothing is set. */
function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce((value: unknown, name) => (isRecord(value) ? value[name] : undefined), config);
}

/** A copy with this value; undefined removes it, and every object that is then empty. */
function withValue(config: unknown, [first = '', ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  const { [first]: before, ...others } = isRecord(config) ? config : {};
  const next = rest.length === 0 ? value : withValue(before, rest, value);
  const isEmpty = next === undefined || (rest.length > 0 && isRecord(next) && Object.keys(next).length === 0);
  return isEmpty ? others : { ...others, [first]: next };
}

/** Setting a toolset applies to all its tools, including those with a grant of their own. */
function edited(config: unknown, path: readonly string[], value: unknown): Record<string, unknown> {
  const next = withValue(config, path, value);
  const [group, toolset] = path.slice(-2);
  const tools = valueAt(config, ['coordination', 'tools']);
  if (group !== 'toolsets' || value === undefined || !isRecord(tools)) return next;
  const left = agentConfigSchema.shape.coordination.parse({ tools }).tools;
  return withValue(
    next,
    ['coordination', 'tools'],
    singlesBeside(left, toolset === undefined ? [] : [toolset as Toolset]),
  );
}

/** One column of the table. */
interface Column {
  readonly id: string;
  /** Null: everybody's. */
  readonly agentId: AgentId | null;
  readonly own: (path: readonly string[]) => unknown;
  /** The value that applies while nothing is set. */
  readonly under: (path: readonly string[]) => unknown;
  readonly set: (path: readonly string[], value: unknown) => Promise<Done>;
}

interface CellProps {
  readonly setting: Setting;
  readonly column: Column;
  readonly fieldId: string;
  readonly labelledBy: string;
}

/** Saves a value of this setting in this column; undefined: what applies without it. */
function useSet({ setting: { path, label }, column }: Pick<CellProps, 'setting' | 'column'>) {
  const told = useTold();
  const before = column.own(path);
  const [first = ''] = path;
  const atSessionStart = path.length === 1 && Object.hasOwn(DEFAULT_SETTINGS, first) && !HOLDS_AT_ONCE.has(first);
  return (value: unknown) =>
    told({
      label: retold(label),
      save: () => column.set(path, value),
      undo: () => column.set(path, before),
      atSessionStart,
    });
}

function NumberCell({ setting, column, fieldId, labelledBy }: CellProps) {
  const { path, per = 1, min = 0, max = 0 } = setting;
  const set = useSet({ setting, column });
  const own = column.own(path);
  const shown = (value: unknown) => (typeof value === 'number' ? String(value / per) : '');
  const { props, isWrong } = useDraft<number | null>({
    text: shown(own),
    parse(text) {
      if (text.trim() === '') return null;
      const value = Math.round(Number(text.replace(',', '.')) * per);
      return Number.isFinite(value) && value >= min && value <= max ? value : undefined;
    },
    onSave: (value) => set(value ?? undefined),
  });
  const problem = useId();
  return (
    <>
      <input
        {...props}
        id={fieldId}
        className="field full text-3"
        inputMode="decimal"
        placeholder={shown(column.under(path))}
        aria-labelledby={labelledBy}
        aria-describedby={problem}
      />
      <small className="text-1 block" id={problem} role="status" data-wrong={isWrong}>
        {isWrong ? t`From ${numberText(setting, min)} to ${numberText(setting, max)}.` : ''}
      </small>
    </>
  );
}

interface Option {
  /** The value as stored, in JSON. */
  readonly value: string;
  readonly text: string;
}

/** A choice. For an agent, the first option is what everybody has. */
function SelectCell({
  setting,
  column,
  fieldId,
  labelledBy,
  options,
}: CellProps & { readonly options: readonly Option[] }) {
  const { path } = setting;
  const set = useSet({ setting, column });
  const [own, under] = [column.own(path), column.under(path)].map((value) => JSON.stringify(value));
  const textOf = (value: string | undefined) => options.find((option) => option.value === value)?.text ?? value ?? '';
  const inherits = column.agentId !== null;
  const choice = own ?? (inherits ? '' : (under ?? ''));
  return (
    <select
      id={fieldId}
      className="field full text-3"
      aria-labelledby={labelledBy}
      data-own={own !== undefined}
      value={choice}
      onChange={({ target: { value } }) =>
        void set(value === '' || (!inherits && value === under) ? undefined : JSON.parse(value))
      }
    >
      {inherits && <option value="">{t`As everybody: ${textOf(under)}`}</option>}
      {options.map(({ value, text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
      {choice !== '' && !options.some(({ value }) => value === choice) && (
        <option value={choice}>{textOf(choice)}</option>
      )}
    </select>
  );
}

const GRANT_OPTIONS = GRANTS.map(([grant, text]) => ({ value: JSON.stringify(grant), text }));
const SWITCH_OPTIONS = [
  { value: 'true', text: t`Yes` },
  { value: 'false', text: t`No` },
];

/** What drives an agent: the connected models, or an ACP agent on the relay's machine. */
function MindCell(props: CellProps) {
  const state = useQuery(programsOf(useRoost()).list);
  const programs = state.kind === 'ready' ? state.value.programs : [];
  const options = programs.map(({ programId, name }) => ({ value: JSON.stringify(programId), text: name }));
  return <SelectCell {...props} options={[{ value: 'null', text: t`The connected models` }, ...options]} />;
}

function NetworkCell(props: CellProps) {
  const { setting, column } = props;
  const set = useSet({ setting, column });
  const own = networkSchema.optional().catch(undefined).parse(column.own(setting.path));
  const hosts = typeof own === 'object' ? own : [];
  const options = [
    ...NETWORKS.map(([value, text]) => ({ value: JSON.stringify(value), text })),
    { value: JSON.stringify(hosts), text: t`Hosts that I name` },
  ];
  return (
    <>
      <SelectCell {...props} options={options} />
      {typeof own === 'object' && <HostsField key={hosts.join()} hosts={hosts} save={(next) => void set(next)} />}
    </>
  );
}

function Cell(props: CellProps) {
  switch (props.setting.kind) {
    case 'number':
      return <NumberCell {...props} />;
    case 'switch':
      return <SelectCell {...props} options={SWITCH_OPTIONS} />;
    case 'grant':
      return <SelectCell {...props} options={GRANT_OPTIONS} />;
    case 'choice':
      return props.setting.path.at(-1) === 'mind' ? <MindCell {...props} /> : <NetworkCell {...props} />;
    default:
      return props.setting.kind satisfies never;
  }
}

function SettingRow({ setting, columns }: { setting: Setting; columns: readonly Column[] }) {
  const id = useId();
  const label = retold(setting.label);
  const unit = setting.unit === undefined ? '' : retold(setting.unit);
  return (
    <tr>
      <th className="text-start" scope="row">
        <label id={id} htmlFor={`${id}-0`}>
          {label}
        </label>
        {unit !== '' && !label.toLowerCase().includes(unit.toLowerCase()) && (
          <small className="text-1 block">{unit}</small>
        )}
        {setting.hint !== undefined && <small className="text-1 block">{retold(setting.hint)}</small>}
      </th>
      {columns.map((column, at) => (
        <td className="text-start" key={column.id}>
          {(setting.scope === 'both' || column.agentId === null) && (
            <Cell setting={setting} column={column} fieldId={`${id}-${at}`} labelledBy={`${id} ${column.id}`} />
          )}
        </td>
      ))}
    </tr>
  );
}

const isGroup = (name: string): name is SettingGroup => Object.hasOwn(SETTING_GROUPS, name);
const GROUPS = Object.keys(SETTING_GROUPS).filter(isGroup);
const OURS: readonly string[] = Object.values(TOOLSETS).flat();

/** Grants of single tools, which override those of their sets. */
function toolRows(columns: readonly Column[]): readonly Setting[] {
  const set = columns.flatMap(({ own, under }) =>
    [own, under].flatMap((read) => Object.keys(read(['coordination', 'tools']) ?? {})),
  );
  return [...new Set([...OURS, ...set])].map((tool) => ({
    path: ['coordination', 'tools', tool],
    label: tool,
    kind: 'grant',
    scope: 'both',
    group: 'tools',
  }));
}

function AllowedCommands({ column }: { column: Column }) {
  const path = ['coordination', 'allowed_commands'];
  const told = useTold();
  const patterns = column.own(path) ?? column.under(path);
  const commands = Array.isArray(patterns) ? patterns.filter((each) => typeof each === 'string') : [];
  if (commands.length === 0) return null;
  const label = t`Commands that run without asking`;
  return (
    <section aria-label={label}>
      <h4>{label}</h4>
      <List>
        {commands.map((command) => (
          <Row
            key={command}
            acts={
              <button
                type="button"
                className="ghost"
                aria-label={t`${t`Ask again`}: ${command}`}
                onClick={() =>
                  void told({
                    label,
                    save: () =>
                      column.set(
                        path,
                        commands.filter((each) => each !== command),
                      ),
                    undo: () => column.set(path, commands),
                  })
                }
              >{t`Ask again`}</button>
            }
          >
            <code dir="ltr">{revealedCode(command)}</code>
          </Row>
        ))}
      </List>
    </section>
  );
}

function Table({ columns, heads }: { columns: readonly Column[]; heads: readonly ReactNode[] }) {
  const [single, setSingle] = useState(false);
  const group = (title: string, settings: readonly Setting[]) => (
    <tbody key={title}>
      <tr>
        <th className="text-start" scope="rowgroup" colSpan={columns.length + 2}>
          {title}
        </th>
      </tr>
      {settings.map((setting) => (
        <SettingRow key={setting.path.join('.')} setting={setting} columns={columns} />
      ))}
    </tbody>
  );
  return (
    <>
      <table className="advanced full text-3">
        <thead>
          <tr>
            <th className="ink-2 text-2 medium text-start" scope="col">{t`Setting`}</th>
            {heads}
          </tr>
        </thead>
        {GROUPS.map((name) =>
          group(
            retold(SETTING_GROUPS[name]),
            SETTING_TABLE.filter((each) => each.group === name),
          ),
        )}
        {single && group(t`Tool by tool`, toolRows(columns))}
      </table>
      {!single && <button type="button" className="ghost" onClick={() => setSingle(true)}>{t`Tool by tool`}</button>}
      {columns.slice(-1).map((column) => (
        <AllowedCommands key={column.id} column={column} />
      ))}
    </>
  );
}

/** The column of everybody: the household's limits, and its settings in the ledger. */
function useHouseholdColumn(own: unknown): Column {
  const { limits } = useRoost();
  const actions = useActions();
  const settings = useHousehold((state) => state.settings);
  const keyOf = ([name = '', ...rest]: readonly string[]): SettingKey | null =>
    rest.length === 0 && Object.hasOwn(DEFAULT_SETTINGS, name) ? (name as SettingKey) : null;
  const usual = effectiveConfig({ coordination: {} }, null, 'UTC');
  return {
    id: 'advanced-everybody',
    agentId: null,
    own(path) {
      const key = keyOf(path);
      if (key === null) return valueAt(own, path);
      return settings[key] === DEFAULT_SETTINGS[key] ? undefined : settings[key];
    },
    under(path) {
      const key = keyOf(path);
      return key === null ? valueAt(usual, path) : DEFAULT_SETTINGS[key];
    },
    set(path, value) {
      const key = keyOf(path);
      if (key === null)
        return changeLimits(limits, (config) => householdConfigSchema.parse(edited(config, path, value)));
      const next = value ?? DEFAULT_SETTINGS[key];
      if (!isSettingValue(key, next)) throw new Error(`${key} cannot have this value`);
      return actions.saveSetting(key, next as never);
    },
  };
}

function AgentHead({ agentId }: { agentId: AgentId | null }) {
  const { go } = useRoute();
  const roster = useHousehold((state) => state.roster);
  const agents = [...roster.byId.values()].filter((agent) => !agent.retired || agent.agentId === agentId);
  return (
    <th className="ink-2 text-2 medium text-start" scope="col">
      <select
        className="field field-select"
        aria-label={t`Agent`}
        value={agentId ?? ''}
        onChange={({ target }) => go(PATHS.advanced(target.value === '' ? null : target.value))}
      >
        <option value="">{t`Choose an agent`}</option>
        <AgentOptions agents={agents} />
      </select>
    </th>
  );
}

function Both({ agentId, everybody, household }: { agentId: AgentId; everybody: Column; household: unknown }) {
  const name = useNames()(agentId);
  const limits = wakeQueries(useRoost()).limits(agentId);
  return (
    <QueryView query={limits.query}>
      {({ own }) => {
        const column: Column = {
          id: 'advanced-agent',
          agentId,
          own: (path) => valueAt(own, path),
          under: (path) => valueAt(household, path),
          set: (path, value) => changeLimits(limits, (config) => agentConfigSchema.parse(edited(config, path, value))),
        };
        return (
          <>
            <span id={column.id} className="visually-hidden">
              {name}
            </span>
            <Table
              columns={[everybody, column]}
              heads={[<Everybody key="all" />, <AgentHead key="one" agentId={agentId} />]}
            />
          </>
        );
      }}
    </QueryView>
  );
}

const Everybody = () => (
  <th className="ink-2 text-2 medium text-start" scope="col" id="advanced-everybody">{t`Everybody`}</th>
);

function Loaded({ own, effective, agentId }: { own: unknown; effective: unknown; agentId: AgentId | null }) {
  const everybody = useHouseholdColumn(own);
  if (agentId !== null) return <Both agentId={agentId} everybody={everybody} household={effective} />;
  return <Table columns={[everybody]} heads={[<Everybody key="all" />, <AgentHead key="one" agentId={null} />]} />;
}

export function Advanced({ agentId }: { agentId: AgentId | null }) {
  const { limits } = useRoost();
  return (
    <>
      <p className="settings-note under-6 ink-2 text-3">
        {t`An empty field has the grey value. ACP agents are connected under ${<Link href={PATHS.settings('programs')}>{t`Models and money`}</Link>}.`}
      </p>
      <QueryView query={limits.query}>
        {({ own, effective }) => <Loaded own={own} effective={effective} agentId={agentId} />}
      </QueryView>
    </>
  );
}
