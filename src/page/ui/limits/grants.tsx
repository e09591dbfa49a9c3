/** Tool permissions of agents: as one choice, by toolset, and per tool. */
import { useId, useState } from 'react';
import { isHost, MOST_HOSTS, type Network } from '../../../shared/domain/network.ts';
import {
  ASKING_TOOLS,
  type Grant,
  grantOf,
  GRANTS,
  grantsOver,
  presetOf,
  PRESETS,
  PROVIDER_TOOLS,
  singlesBeside,
  type Toolset,
  TOOLSETS,
} from '../../../shared/domain/toolsets.ts';
import { retold, t } from '../../language/t.ts';
import { withCoordination } from '../../state/relay-info.ts';
import { callsOf } from '../../state/calls.ts';
import { useRoost } from '../context.tsx';
import { revealedCode } from '../text/unseen.ts';
import { useQuery } from '../hooks.ts';
import {
  baseName,
  Inherited,
  type InheritedProps,
  inheritedText,
  SettingFrame,
  Tick,
  useLimits,
  useSaved,
} from './setting.tsx';

// Network access of an agent's commands: none, named hosts, or all public hosts.

const KINDS = { none: t`Nothing`, hosts: t`Hosts that I name`, all: t`All that is public` } as const;
type Kind = keyof typeof KINDS;
const isKind = (text: string): text is Kind => Object.hasOwn(KINDS, text);
const kindOf = (network: Network): Kind => (network === 'none' || network === 'all' ? network : 'hosts');
const hostsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
];

/** One host per line; saved when the field loses the focus. */
function HostsField({ hosts, save }: { hosts: readonly string[]; save: (hosts: string[]) => void }) {
  const id = useId();
  const [text, setText] = useState(hosts.join('\n'));
  const named = hostsIn(text);
  const odd = named.find((host) => !isHost(host));
  const wrong =
    odd !== undefined
      ? t`${odd} is no host. One is written example.org, example.org:8443 or *.example.org.`
      : named.length > MOST_HOSTS
        ? t`There is room for ${MOST_HOSTS} hosts.`
        : null;
  return (
    <div className="network-hosts">
      <label htmlFor={id}>{t`Hosts, one a line`}</label>
      <textarea
        id={id}
        className="field"
        rows={Math.min(8, Math.max(3, named.length + 1))}
        spellCheck={false}
        autoCapitalize="off"
        placeholder={'api.example.com\n*.example.org\nexample.org:8443'}
        value={text}
        aria-invalid={wrong !== null}
        aria-describedby={wrong === null ? undefined : `${id}-wrong`}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => wrong === null && named.join() !== hosts.join() && save(named)}
      />
      {wrong !== null && (
        <p id={`${id}-wrong`} className="wrong-note" role="status">
          {wrong}
        </p>
      )}
    </div>
  );
}

export function NetworkField() {
  const { own, effective, base, scope, change } = useLimits();
  const id = useId();
  const saved = useSaved<Network>({
    own: own.network,
    save: (value) =>
      change((coordination) =>
        withCoordination(coordination, 'network', typeof value === 'object' ? [...value] : value),
      ),
  });
  const held = saved.saving ? (saved.saving.value ?? base.network) : effective.network;
  const inherits = own.network === undefined;
  return (
    <SettingFrame
      legend={t`What its commands reach of the network`}
      hint={t`By name, through the relay alone, and never this machine or its own networks. What an agent may read it may send there too. Without a port, a host is reached on 80 and 443; a server that also answers for others can be used to reach those.`}
      group
      saved={saved}
      describedBy={id}
      inherited={{
        text: inherits ? inheritedText(scope) : '',
        back: inherits ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName(scope)}`,
      }}
    >
      <select
        className="field"
        aria-label={t`What its commands reach of the network`}
        value={kindOf(held)}
        onChange={({ target: { value } }) => {
          if (isKind(value)) void saved.set(value === 'hosts' ? [] : value);
        }}
      >
        {Object.entries(KINDS).map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </select>
      {typeof held === 'object' && (
        <HostsField key={held.join()} hosts={held} save={(hosts) => void saved.set(hosts)} />
      )}
    </SettingFrame>
  );
}

const GRANT_WORDS: Readonly<Record<Grant, string>> = { off: t`Off`, ask: t`Asks me`, allow: t`Allowed` };

const PRESET_WORDS: Readonly<Record<string, readonly [string, string]>> = {
  talks: [t`Talks only`, t`no files, no commands`],
  folder: [t`Works in its folder`, t`reads and writes files there`],
  asks: [t`Asks before commands`, t`files freely, each command with your yes`],
  sandbox: [t`Works freely in its sandbox`, t`files and commands, without asking`],
};

/** Files and commands as one choice. */
export function HandPresets() {
  const { own, effective, base, change } = useLimits();
  const set = own.toolsets;
  const saved = useSaved<Pick<Record<Toolset, Grant>, 'files' | 'shell'>>({
    own: undefined,
    save: (value) =>
      change((coordination) =>
        withCoordination(
          value === undefined
            ? coordination
            : withCoordination(coordination, 'tools', singlesBeside(coordination.tools, ['files', 'shell'])),
          'toolsets',
          { ...coordination.toolsets, files: value?.files, shell: value?.shell },
        ),
      ),
  });
  const held = saved.saving
    ? { toolsets: { ...effective.toolsets, ...(saved.saving.value ?? base.toolsets) }, tools: {} }
    : effective;
  const chosen = presetOf(held)?.id;
  return (
    <SettingFrame
      legend={t`How far it may go`}
      group
      saved={{ ...saved, undo: null }}
      describedBy="hand-presets"
      inherited={{
        text: chosen === undefined ? t`By choices of your own, below.` : '',
        back: set?.files === undefined && set?.shell === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back`,
      }}
    >
      <div className="presets">
        {PRESETS.map(({ id, toolsets }) => (
          <label key={id} className="preset" data-checked={id === chosen}>
            <input type="radio" name="hands" checked={id === chosen} onChange={() => void saved.set(toolsets)} />
            <b>{PRESET_WORDS[id]?.[0]}</b>
            <small>{PRESET_WORDS[id]?.[1]}</small>
          </label>
        ))}
      </div>
    </SettingFrame>
  );
}

type GrantProps = Omit<InheritedProps<Grant>, 'wordOf' | 'children'>;

function GrantField(props: GrantProps) {
  return (
    <Inherited<Grant> {...props} wordOf={(grant) => GRANT_WORDS[grant].toLowerCase()}>
      {({ id, describedBy, value, set }) => (
        <div className="setting-row">
          <label htmlFor={id}>{props.label}</label>
          <select
            id={id}
            className="field"
            value={value}
            aria-describedby={describedBy}
            onChange={(event) => set(GRANTS.find((grant) => grant === event.target.value))}
          >
            {GRANTS.map((grant) => (
              <option key={grant} value={grant}>
                {GRANT_WORDS[grant]}
              </option>
            ))}
          </select>
        </div>
      )}
    </Inherited>
  );
}

/** The permission for a toolset. */
export function ToolsetGrant({
  toolset,
  ...words
}: Pick<GrantProps, 'label' | 'hint'> & { readonly toolset: Toolset }) {
  const { own, effective, base, change } = useLimits();
  return (
    <GrantField
      {...words}
      own={own.toolsets?.[toolset]}
      effective={effective.toolsets[toolset]}
      base={base.toolsets[toolset]}
      save={(value) =>
        change((coordination) =>
          withCoordination(
            value === undefined
              ? coordination
              : withCoordination(coordination, 'tools', singlesBeside(coordination.tools, [toolset])),
            'toolsets',
            { ...coordination.toolsets, [toolset]: value },
          ),
        )
      }
    />
  );
}

const BY_PROVIDER: readonly string[] = PROVIDER_TOOLS;
const BY_PROVIDER_HINT = t`By the model’s provider, in the middle of an answer: used only where it is allowed.`;

const ASKING_HINT = t`Asks you about each call, also where it is allowed.`;

/**
 * Permissions of single tools, which override those of their sets, and commands that are always
 * allowed.
 */
export function SingleGrants() {
  const { own, effective, base, change } = useLimits();
  const save = (tool: string) => (value: Grant | undefined) =>
    change((coordination) => {
      const others = Object.entries(coordination.tools ?? {}).filter(([name]) => name !== tool);
      const tools = Object.fromEntries(value === undefined ? others : [...others, [tool, value]]);
      return withCoordination(coordination, 'tools', Object.keys(tools).length === 0 ? undefined : tools);
    });
  const commands = effective.allowed_commands;
  const ours: readonly string[] = Object.values(TOOLSETS).flat();
  // Of MCP servers and ACP agents, only explicit permissions are known here.
  const others = Object.keys(effective.tools)
    .filter((tool) => !ours.includes(tool))
    .sort();
  return (
    <details className="grants-single">
      <summary>{t`Tool by tool`}</summary>
      {[...ours, ...others].map((tool) => (
        <GrantField
          key={tool}
          label={tool}
          hint={BY_PROVIDER.includes(tool) ? BY_PROVIDER_HINT : ASKING_TOOLS.includes(tool) ? ASKING_HINT : ''}
          own={own.tools?.[tool]}
          effective={grantOf(effective, tool) ?? 'off'}
          base={grantOf(grantsOver({ toolsets: own.toolsets }, base), tool) ?? 'off'}
          save={save(tool)}
        />
      ))}
      {commands.length > 0 && (
        <>
          <h4>{t`Commands that run without asking`}</h4>
          <ul className="grants-commands">
            {commands.map((command) => (
              <li key={command}>
                <code dir="ltr">{revealedCode(command)}</code>
                <button
                  type="button"
                  className="ghost"
                  aria-label={t`Ask again about: ${command}`}
                  onClick={() =>
                    void change((coordination) =>
                      withCoordination(
                        coordination,
                        'allowed_commands',
                        commands.filter((each) => each !== command),
                      ),
                    )
                  }
                >{t`Ask again`}</button>
              </li>
            ))}
          </ul>
        </>
      )}
    </details>
  );
}

const NO_SANDBOX = t`Its commands then run as whoever started the relay, in no sandbox: each can read, change and delete all that they can, your files, your keys, the relay’s store and the other agents’ folders among it, and reach any network. The kernel bounds neither their memory nor their processes: the relay only looks, and what they leave running may go on. Only for an agent whose every command you would run yourself; let it ask for each.`;

/**
 * Where the relay's machine has no sandbox for commands: why, and for one agent, how to allow them
 * anyway. Where it has one: what the sandbox does not restrict.
 */
export function SandboxNote() {
  const state = useQuery(callsOf(useRoost()).approvals);
  const { scope, own } = useLimits();
  const { why = null, insist = false, watched } = state.kind === 'ready' ? state.value.sandbox : {};
  if (why === null) return watched === undefined ? null : <p className="settings-note">{retold(watched)}</p>;
  const way = insist
    ? t`Or insist: under the limits of one agent you can have its commands run without a sandbox.`
    : t`Or insist: where the relay was started with --scripts, you can have the commands of one agent run without a sandbox, under its limits.`;
  return (
    <>
      <p className="settings-note">{scope === 'agent' && insist ? retold(why) : `${retold(why)} ${way}`}</p>
      {scope === 'agent' && (insist || own.shell_without_sandbox === true) && (
        <Tick setting="shell_without_sandbox" label={t`Runs commands without a sandbox`} hint={NO_SANDBOX} />
      )}
    </>
  );
}
