/**
 * How a program of the relay's machine is held: in the sandbox, with what it sees there, or free.
 */
import { useState, type ReactNode } from 'react';
import { isHost, MOST_HOSTS } from '../../../shared/domain/network.ts';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import type { AttachedServer, Box } from '../../../shared/protocol/attached.ts';
import { attachedOf } from '../../state/attached.ts';
import { useRoost } from '../context.tsx';
import { OneOf } from '../parts/one-of.tsx';
import { shownBox } from '../text/attached-changes.ts';

/** As it is written in its fields. */
export interface BoxDraft {
  readonly held: boolean;
  readonly folder: string;
  readonly reads: string;
  readonly hosts: string;
}
export const draftOf = (box: Box | null, held = box !== null): BoxDraft => ({
  held,
  folder: box?.folder ?? '',
  reads: box?.reads.join('\n') ?? '',
  hosts: box === null || box.network === 'none' ? '' : box.network === 'all' ? '*' : box.network.join('\n'),
});

/** What the relay says of programs of this household. */
export interface BoxRules {
  /** There is a sandbox on its machine. */
  readonly sandbox: boolean;
  /** Folders of the machine may be shown to what runs in it. */
  readonly folders: boolean;
  /** Why none runs outside of it, in the relay's words; undefined: they may. */
  readonly why: string | undefined;
}
/** Of a program that is connected now: free only where there is no sandbox, and it may be. */
export const newDraft = ({ sandbox, why }: Pick<BoxRules, 'sandbox' | 'why'>): BoxDraft =>
  draftOf(null, sandbox || why !== undefined);

const linesOf = (text: string) => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];
const EVERYWHERE = '*';

export type ReadBox = { readonly ok: true; readonly box: Box | null } | { readonly ok: false; readonly reason: string };

/** `box` null: it runs free. The reason is a sentence for the person. */
export function boxIn({ held, folder, reads, hosts }: BoxDraft): ReadBox {
  if (!held) return { ok: true, box: null };
  const named = linesOf(hosts.toLowerCase());
  const odd = named.find((host) => host !== EVERYWHERE && !isHost(host));
  if (odd !== undefined)
    return { ok: false, reason: t`${odd} is no host. One is written example.org, example.org:8443 or *.example.org.` };
  if (named.length > MOST_HOSTS) return { ok: false, reason: t`There is room for ${MOST_HOSTS} hosts.` };
  const place = [folder.trim(), ...linesOf(reads)].find((path) => path !== '' && !/^(?:\/|[a-zA-Z]:\\)/.test(path));
  if (place !== undefined) return { ok: false, reason: t`${place} is no whole path: one begins with /.` };
  const network = named.length === 0 ? 'none' : named.includes(EVERYWHERE) ? 'all' : named;
  return { ok: true, box: { folder: folder.trim() || null, reads: linesOf(reads), network } };
}

const PLAIN = { autoComplete: 'off', spellCheck: false } as const;

function Field({ label, hint, children }: { label: string; hint: ReactNode; children: ReactNode }) {
  return (
    <label className="attach-field">
      {label}
      {children}
      <span className="setting-hint">{hint}</span>
    </label>
  );
}

export function BoxFields({
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
        <p className="setting-hint">{t`It can read and change all that whoever started Roost can, and reach any network.`}</p>
      )}
      {draft.held && !sandbox && (
        <p
          className="wrong-note"
          role="status"
        >{t`There is no sandbox on the relay’s machine: under Limits stands what to install. Until then it does not start.`}</p>
      )}
      {draft.held && (
        <>
          {(folders || draft.folder !== '' || draft.reads !== '') && (
            <>
              <Field label={t`Folder that it reads and writes`} hint={t`On the relay’s machine. Empty: none.`}>
                <input
                  {...PLAIN}
                  className="field"
                  value={draft.folder}
                  placeholder="/home/me/notes"
                  onChange={(event) => onDraft({ ...draft, folder: event.target.value })}
                />
              </Field>
              <Field
                label={t`What it only reads, one in a line`}
                hint={t`Where its own program lies, where that is not the system’s (/usr).`}
              >
                <textarea
                  {...PLAIN}
                  className="field"
                  rows={2}
                  value={draft.reads}
                  onChange={(event) => onDraft({ ...draft, reads: event.target.value })}
                />
              </Field>
            </>
          )}
          <Field label={t`Hosts that it reaches, one in a line`} hint={t`Empty: no network. * is all that is public.`}>
            <textarea
              {...PLAIN}
              className="field"
              rows={2}
              value={draft.hosts}
              placeholder="api.example.org"
              onChange={(event) => onDraft({ ...draft, hosts: event.target.value })}
            />
          </Field>
        </>
      )}
    </>
  );
}

/** How an attached program is held, and the way to change that. */
export function BoxOf({ server, ...held }: { server: AttachedServer } & BoxRules) {
  const attached = attachedOf(useRoost());
  const [draft, setDraft] = useState<BoxDraft | null>(null);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const { serverId, name, kind, box } = server;
  if (kind !== 'program') return null;
  const save = async (given: BoxDraft) => {
    const read = boxIn(given);
    setWrong(read.ok ? null : read.reason);
    if (!read.ok) return;
    setBusy(true);
    const done = await attached.change((client) => client.changeAttached({ serverId, body: { box: read.box } }));
    setBusy(false);
    setWrong(done.ok ? null : done.reason);
    if (done.ok) setDraft(null);
  };
  if (draft === null)
    return (
      <p className="attached-box">
        <span>{box === null ? t`Runs free on this machine.` : t`In the sandbox: ${shownBox(box)}.`}</span>{' '}
        <button
          type="button"
          className="ghost"
          aria-label={t`Change where ${name} runs`}
          onClick={() => setDraft(draftOf(box))}
        >{t`Change`}</button>
      </p>
    );
  return (
    <form
      className="attach-form"
      aria-label={t`Where ${name} runs`}
      onSubmit={(event) => {
        event.preventDefault();
        void save(draft);
      }}
    >
      <BoxFields draft={draft} {...held} onDraft={setDraft} />
      {wrong !== null && (
        <p className="wrong-note" role="alert">
          {wrong}
        </p>
      )}
      <div className="attached-ways">
        <button type="submit" className="solid" disabled={busy}>
          {busy ? t`Starting it anew…` : t`Save`}
        </button>
        <button type="button" className="ghost" disabled={busy} onClick={() => setDraft(null)}>{t`Cancel`}</button>
      </div>
    </form>
  );
}
