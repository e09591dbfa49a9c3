/**
 * Connects an MCP server by its URL, by a program, or by pasting another client's settings. Secrets
 * are sent to the relay once.
 */
import { useEffect, useState } from 'react';
import { isHost, MOST_HOSTS } from '../../../shared/domain/network.ts';
import type { McpServer, Attachment, Box } from '../../../shared/protocol/mcp.ts';
import { relayEndpoints } from '../../../shared/protocol/endpoints/session.ts';
import {
  type AskedValue,
  mcpNameOf,
  filledIn,
  type FoundServer,
  readMcpServers,
} from '../../../shared/protocol/mcp-settings.ts';
import { needsOf, type Runner, withNeeds } from '../../../shared/protocol/runners.ts';
import { retold, t } from '../../language/t.ts';
import { mcpServersOf } from '../../state/mcp-servers.ts';
import { CHANGED_ELSEWHERE } from '../../state/documents.ts';
import { useRoost } from '../context.tsx';
import { OneOf } from '../design/one-of.tsx';
import { ProgramsOff } from '../parts/programs-off.tsx';
import { shownBox } from '../text/record-changes.ts';
import { readVariables } from '../text/kinds.ts';
import { KeyField } from '../models/model-select.tsx';
import { useAction } from '../design/use-action.ts';
import { TextField, WrongNote } from '../design/field.tsx';

// How a program on the relay's machine is confined: in the sandbox with the folders it sees, or
// outside.

/** The limits of a program as entered in the form. */
interface BoxDraft {
  readonly held: boolean;
  readonly folder: string;
  readonly reads: string;
  readonly hosts: string;
}
const draftOf = (box: Box | null, isBoxed = box !== null): BoxDraft => ({
  held: isBoxed,
  folder: box?.folder ?? '',
  reads: box?.reads.join('\n') ?? '',
  hosts: box === null || box.network === 'none' ? '' : box.network === 'all' ? '*' : box.network.join('\n'),
});

/** What the relay allows programs of this household. */
export interface BoxRules {
  /** Its machine has a sandbox. */
  readonly sandbox: boolean;
  /** Folders of the machine may be exposed to programs in it. */
  readonly folders: boolean;
  /** Why no program may run outside of it, in the relay's words; undefined: they may. */
  readonly why: string | undefined;
}
/**
 * Defaults for a new program: outside the sandbox only where there is none and the relay allows it.
 */
const newDraft = ({ sandbox, why }: Pick<BoxRules, 'sandbox' | 'why'>): BoxDraft =>
  draftOf(null, sandbox || why !== undefined);

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
const distinctLines = (text: string) => [...new Set(linesOf(text))];
const EVERYWHERE = '*';

type ReadBox = { readonly ok: true; readonly box: Box | null } | { readonly ok: false; readonly reason: string };

/** `box` null: it runs outside. The reason is a sentence for the person. */
function boxIn({ held, folder, reads, hosts }: BoxDraft): ReadBox {
  if (!held) return { ok: true, box: null };
  const named = distinctLines(hosts.toLowerCase());
  const odd = named.find((host) => host !== EVERYWHERE && !isHost(host));
  if (odd !== undefined)
    return { ok: false, reason: t`${odd} is no host. Write it as example.org or example.org:8443.` };
  if (named.length > MOST_HOSTS) return { ok: false, reason: t`There is room for ${MOST_HOSTS} hosts.` };
  const place = [folder.trim(), ...distinctLines(reads)].find(
    (path) => path !== '' && !/^(?:\/|[a-zA-Z]:\\)/.test(path),
  );
  if (place !== undefined) return { ok: false, reason: t`${place} is no whole path: one begins with /.` };
  const network = named.length === 0 ? 'none' : named.includes(EVERYWHERE) ? 'all' : named;
  return { ok: true, box: { folder: folder.trim() || null, reads: distinctLines(reads), network } };
}

function BoxFields({
  draft,
  sandbox,
  folders,
  why,
  onDraft,
}: BoxRules & {
  draft: BoxDraft;
  onDraft: (draft: BoxDraft) => void;
}) {
  return (
    <>
      {why !== undefined && <p className="setting-hint">{retold(why)}</p>}
      {(why === undefined || !draft.held) && (
        <OneOf<'held' | 'free'>
          label={t`Where it runs`}
          options={[
            { value: 'held', text: t`In the sandbox` },
            { value: 'free', text: t`Free on this machine` },
          ]}
          value={draft.held ? 'held' : 'free'}
          onChange={(value) => onDraft({ ...draft, held: value === 'held' })}
        />
      )}
      {!draft.held && (
        <p className="setting-hint">{t`No sandbox: it can read, change and delete everything that the relay’s user can, and reach any network.`}</p>
      )}
      {draft.held && !sandbox && (
        <p
          className="wrong-note"
          role="status"
        >{t`The relay’s machine has no sandbox, so it does not start. Settings, What agents may do, says what to install.`}</p>
      )}
      {draft.held && (
        <>
          {(folders || draft.folder !== '' || draft.reads !== '') && (
            <>
              <TextField
                label={t`Folder it may change`}
                hint={t`On the relay’s machine. Empty: none.`}
                value={draft.folder}
                placeholder="/home/me/notes"
                onText={(text) => onDraft({ ...draft, folder: text })}
              />
              <TextField
                label={t`Folders it only reads, one in a line`}
                hint={t`Its program’s folder, if not in /usr.`}
                rows={2}
                value={draft.reads}
                onText={(text) => onDraft({ ...draft, reads: text })}
              />
            </>
          )}
          <TextField
            label={t`Hosts that it reaches, one in a line`}
            hint={t`Empty: no network. * is all that is public.`}
            rows={2}
            value={draft.hosts}
            placeholder="api.example.org"
            onText={(text) => onDraft({ ...draft, hosts: text })}
          />
        </>
      )}
    </>
  );
}

/** How a program is confined, and a way to change that. */
export function BoxOf({ server, ...held }: { server: McpServer } & BoxRules) {
  const mcpServers = mcpServersOf(useRoost());
  const [draft, setDraft] = useState<BoxDraft | null>(null);
  /** Of the server when the draft was begun, or that the person has seen to be newer. */
  const [base, setBase] = useState(server.version);
  const { busy, failed, act, fail } = useAction();
  const { serverId, name, kind, box, version } = server;
  if (kind !== 'program') return null;
  const save = (given: BoxDraft) => {
    const read = boxIn(given);
    if (!read.ok) return fail(read.reason);
    act(async () => {
      const done = await mcpServers.change((client) =>
        client.changeMcpServer({ serverId, body: { box: read.box, version: base } }),
      );
      if (done.newer) setBase(done.newer.version);
      if (done.ok) setDraft(null);
      return done.newer ? CHANGED_ELSEWHERE : done;
    });
  };
  const begin = () => {
    setBase(version);
    setDraft(draftOf(box));
  };
  if (draft === null)
    return (
      <p className="mcp-box cluster apart gap-4 break ink-2">
        <span>{box === null ? t`Free on this machine` : t`in the sandbox: ${shownBox(box)}`}</span>{' '}
        <button
          type="button"
          className="ghost"
          aria-label={t`${t`Change`}: ${name}`}
          onClick={begin}
        >{t`Change`}</button>
      </p>
    );
  return (
    <form
      className="mcp-form at-start gap-5"
      aria-label={t`${t`Where it runs`}: ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save(draft);
      }}
    >
      <BoxFields draft={draft} {...held} onDraft={setDraft} />
      <WrongNote text={failed} />
      <div className="flex wrap gap-4">
        <button type="submit" className="solid" disabled={busy}>
          {busy ? t`Working…` : t`Save`}
        </button>
        <button type="button" className="ghost" disabled={busy} onClick={() => setDraft(null)}>{t`Cancel`}</button>
      </div>
    </form>
  );
}

type Kind = Attachment['kind'] | 'paste';
type Add = (servers: readonly { readonly name: string; readonly attachment: Attachment }[]) => void;

const EXAMPLE_ARGS = ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/notes'].join('\n');
function NameField({ name, onName }: { name: string; onName: (name: string) => void }) {
  return <TextField label={t`Name`} value={name} onText={onName} />;
}

/** The address to which a sign-in returns the person. */
const sentBackTo = () => new URL(relayEndpoints.signedIn.path, globalThis.location.origin).href;

function AddressForm({ busy, onAdd }: { busy: boolean; onAdd: Add }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [token, setToken] = useState('');
  const [clientId, setClientId] = useState('');
  const [clientSecret, setClientSecret] = useState('');
  const [issuer, setIssuer] = useState('');
  return (
    <form
      className="mcp-form at-start stack gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        const headers: Record<string, string> = token.trim() === '' ? {} : { Authorization: `Bearer ${token.trim()}` };
        const secret = clientSecret.trim() === '' ? {} : { secret: clientSecret.trim() };
        const of = issuer.trim() === '' ? {} : { issuer: issuer.trim() };
        const client = clientId.trim() === '' ? {} : { client: { id: clientId.trim(), ...secret, ...of } };
        onAdd([{ name: mcpNameOf(name), attachment: { kind: 'address', url: url.trim(), headers, ...client } }]);
      }}
    >
      <NameField name={name} onName={setName} />
      <TextField
        label={t`Address`}
        type="url"
        inputMode="url"
        value={url}
        placeholder="https://mcp.example.org/mcp"
        onText={setUrl}
      />
      <KeyField label={t`Token (optional)`} value={token} onChange={setToken} />
      <details>
        <summary>{t`It needs a registered client`}</summary>
        <TextField
          label={t`Client ID`}
          hint={t`Let it send you back to ${sentBackTo()}.`}
          value={clientId}
          onText={setClientId}
        />
        <KeyField label={t`Client secret (optional)`} value={clientSecret} onChange={setClientSecret} />
        <TextField
          label={t`Its sign-in server`}
          hint={t`Only this server gets the secret. Empty: the one of your first sign-in.`}
          type="url"
          inputMode="url"
          value={issuer}
          placeholder="https://login.example.org"
          onText={setIssuer}
        />
      </details>
      <button
        type="submit"
        className="solid"
        disabled={busy || name.trim() === '' || url.trim() === ''}
      >{t`Connect`}</button>
    </form>
  );
}

/**
 * What programs need to start in the sandbox, to be granted or not. Renders nothing where that is
 * unknown.
 */
function NeedsField({
  servers,
  runners,
  given,
  onGiven,
  folders: mayFolders,
}: {
  servers: readonly FoundServer[];
  runners: readonly Runner[];
  given: boolean;
  onGiven: (given: boolean) => void;
  folders: boolean;
}) {
  const needed = servers.flatMap(({ name, attachment }) => {
    const needs = needsOf(attachment, runners, mayFolders);
    return needs ? [{ name, needs }] : [];
  });
  if (needed.length === 0) return null;
  return (
    <label className="tick-line">
      <input type="checkbox" checked={given} onChange={() => onGiven(!given)} />
      <span>
        <span>{t`Required:`}</span>{' '}
        {needed.map(({ name, needs: { hosts, folders, reads } }) => (
          <span key={name} className="setting-hint">
            {[
              ...hosts.map((host) => t`${name} fetches its program from ${host}.`),
              ...folders.slice(0, 1).map((folder) => t`${name} reads and writes ${folder}.`),
              ...[...folders.slice(1), ...reads].map((folder) => t`${name} reads ${folder}.`),
            ].join(' ')}
          </span>
        ))}
      </span>
    </label>
  );
}
/** The servers as they are connected: with what they need, if it is granted. */
const asGiven = (servers: readonly FoundServer[], runners: readonly Runner[], given: boolean, mayFolders: boolean) =>
  servers.map(({ name, attachment }) => ({
    name,
    attachment: given ? withNeeds(attachment, needsOf(attachment, runners, mayFolders)) : attachment,
  }));

interface ProgramsProps extends BoxRules {
  readonly busy: boolean;
  readonly onAdd: Add;
  readonly runners: readonly Runner[];
}

function ProgramForm({ busy, onAdd, runners, ...held }: ProgramsProps) {
  const [isBoxed, setIsBoxed] = useState(true);
  const [name, setName] = useState('');
  const [command, setCommand] = useState('');
  const [args, setArgs] = useState('');
  const [env, setEnv] = useState('');
  const [draft, setDraft] = useState(newDraft(held));
  const [wrongBox, setWrongBox] = useState<string | null>(null);
  const variables = readVariables(env);
  // A value that is still being typed is not reported as wrong yet.
  const [envLeft, setEnvLeft] = useState(false);
  const wrong = envLeft && !variables.ok ? variables.reason : null;
  const begun: readonly FoundServer[] = [
    {
      name: mcpNameOf(name),
      attachment: { kind: 'program', command: command.trim(), args: linesOf(args), env: {}, box: null },
    },
  ];
  return (
    <form
      className="mcp-form at-start gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        setEnvLeft(true);
        const read = boxIn(draft);
        setWrongBox(read.ok ? null : read.reason);
        if (!variables.ok || !read.ok) return;
        const attachment = {
          kind: 'program',
          command: command.trim(),
          args: linesOf(args),
          env: variables.env,
          box: read.box,
        } as const;
        const server = { name: mcpNameOf(name), attachment: { ...attachment, args: [...attachment.args] } };
        onAdd(asGiven([server], runners, isBoxed, held.folders));
      }}
    >
      <NameField name={name} onName={setName} />
      <TextField label={t`Program`} value={command} placeholder="npx" onText={setCommand} />
      <TextField
        label={t`Arguments, one in a line`}
        rows={3}
        value={args}
        placeholder={EXAMPLE_ARGS}
        onText={setArgs}
      />
      <TextField
        label={t`Variables, one in a line`}
        hint={t`As NAME=value. They are not shown again.`}
        wrong={wrong}
        rows={2}
        value={env}
        onBlur={() => setEnvLeft(true)}
        onFocus={() => setEnvLeft(false)}
        onText={setEnv}
      />
      <BoxFields draft={draft} {...held} onDraft={setDraft} />
      {draft.held && (
        <NeedsField servers={begun} runners={runners} given={isBoxed} onGiven={setIsBoxed} folders={held.folders} />
      )}
      <WrongNote text={wrongBox} />
      <button
        type="submit"
        className="solid"
        disabled={busy || name.trim() === '' || command.trim() === ''}
      >{t`Connect`}</button>
    </form>
  );
}

/** Fields for values that only the other program's machine has. */
function AskedFields({
  asked,
  values,
  onValues,
}: {
  asked: readonly AskedValue[];
  values: Readonly<Record<string, string>>;
  onValues: (values: Readonly<Record<string, string>>) => void;
}) {
  return asked.map(({ written, label, secret, initial }) => {
    const value = values[written] ?? initial;
    const change = (next: string) => onValues({ ...values, [written]: next });
    return secret ? (
      <KeyField key={written} label={label} value={value} onChange={change} />
    ) : (
      <TextField
        key={written}
        label={label}
        hint={t`In the pasted settings: ${written}`}
        value={value}
        onText={change}
      />
    );
  });
}

function PasteForm({ busy, onAdd, runners, ...held }: ProgramsProps) {
  const [needed, setNeeded] = useState(true);
  const [draft, setDraft] = useState(newDraft(held));
  const box = boxIn(draft);
  const [text, setText] = useState('');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const read = text.trim() === '' ? null : readMcpServers(text);
  const asked = read?.ok ? read.asked : [];
  const given = Object.fromEntries(asked.map(({ written, initial }) => [written, values[written] ?? initial]));
  const isOpen = Object.values(given).some((value) => value.trim() === '');
  return (
    <form
      className="mcp-form at-start gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!read?.ok || !box.ok || isOpen) return;
        const boxed = filledIn(read.servers, given).map(({ name, attachment }) => ({
          name,
          attachment: attachment.kind === 'program' ? { ...attachment, box: box.box } : attachment,
        }));
        onAdd(asGiven(boxed, runners, needed, held.folders));
      }}
    >
      <TextField
        label={t`Settings of another program`}
        hint={t`From Claude Desktop, Cursor, VS Code, Zed or opencode.`}
        rows={8}
        value={text}
        placeholder={`{ "mcpServers": { … } }`}
        onText={setText}
      />
      <WrongNote text={read && !read.ok ? retold(read.reason) : null} />
      {read?.ok && (
        <p className="setting-hint">
          {t`Found`} {read.servers.map(({ name }) => name).join(', ')}.
        </p>
      )}
      {read?.ok &&
        read.notes.map((note) => (
          <p key={note} className="setting-hint" role="status">
            {retold(note)}
          </p>
        ))}
      <AskedFields asked={asked} values={values} onValues={setValues} />
      {read?.ok && read.servers.some(({ attachment }) => attachment.kind === 'program') && (
        <>
          <BoxFields draft={draft} {...held} onDraft={setDraft} />
          {draft.held && (
            <NeedsField
              servers={filledIn(read.servers, given)}
              runners={runners}
              given={needed}
              onGiven={setNeeded}
              folders={held.folders}
            />
          )}
          <WrongNote text={box.ok ? null : box.reason} />
        </>
      )}
      <button type="submit" className="solid" disabled={busy || !read?.ok || !box.ok || isOpen}>
        {read?.ok && read.servers.length > 1 ? t`Connect ${read.servers.length}` : t`Connect`}
      </button>
    </form>
  );
}

export function McpServerForm({ programs, ...held }: { programs: boolean } & BoxRules) {
  const mcpServers = mcpServersOf(useRoost());
  const [kind, setKind] = useState<Kind>('address');
  const { busy, act } = useAction();
  const [failed, setFailed] = useState<readonly string[]>([]);
  /** Counts successful attempts. Each one empties the fields; a refused one leaves them. */
  const [round, setRound] = useState(0);
  const [runners, setRunners] = useState<readonly Runner[]>([]);
  const wantsRunners = programs && kind !== 'address';
  useEffect(() => {
    if (wantsRunners) void mcpServers.runners().then(setRunners);
  }, [mcpServers, wantsRunners]);
  const add: Add = (servers) =>
    act(async () => {
      setFailed([]);
      // In parallel, since a server that does not answer takes its time.
      const done = await Promise.all(
        servers.map(async ({ name, attachment }) => ({ name, ...(await mcpServers.add(name, attachment)) })),
      );
      const refused = done.flatMap((each) => (each.ok ? [] : [t`${each.name}: ${each.reason}`]));
      setFailed(refused);
      if (refused.length === 0) setRound((before) => before + 1);
    });
  return (
    <div className="mcp-add stack gap-5 narrow text-3">
      <OneOf<Kind>
        label={t`How`}
        options={[
          { value: 'address', text: t`Address` },
          { value: 'program', text: t`Program` },
          { value: 'paste', text: t`Paste settings` },
        ]}
        value={kind}
        onChange={setKind}
      />
      {kind === 'program' && !programs && <ProgramsOff />}
      {kind === 'address' && <AddressForm key={round} busy={busy} onAdd={add} />}
      {kind === 'program' && programs && (
        <ProgramForm key={round} busy={busy} runners={runners} {...held} onAdd={add} />
      )}
      {kind === 'paste' && <PasteForm key={round} busy={busy} runners={runners} {...held} onAdd={add} />}
      {busy && <p className="setting-hint" role="status">{t`Working…`}</p>}
      {failed.map((reason) => (
        <WrongNote key={reason} text={reason} />
      ))}
    </div>
  );
}
