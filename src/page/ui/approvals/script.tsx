/**
 * What approving a script covers: its complete text, its timing, what happens on failure, and the
 * hosts it may reach.
 */
import { useEffect, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { PinnedFile, ToolCall } from '../../../shared/protocol/approvals.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { useRoost } from '../context.tsx';
import { momentText, timingText } from '../schedule/words.ts';
import { Diff } from '../parts/diff.tsx';
import { hostsIn, wrongInHosts } from '../text/hosts.ts';
import { names } from '../text/sizes.ts';
import { revealedCode, revealedLine } from '../text/unseen.ts';
import { useNow, useQuery } from '../hooks.ts';
import { inputOf, textIn, useBefore, useWhen } from './words.ts';

/** Its timing in words. */
function When({ call }: { call: ToolCall }) {
  const { now, zone, said, timing, next } = useWhen(call);
  if (zone === null) return <Row what={t`When`}>{t`Loading…`}</Row>;
  if (timing === null) return <Row what={t`When`}>{revealedLine(said)}</Row>;
  return (
    <>
      <Row what={t`When`}>{`${timingText(timing, now)} (${zone})`}</Row>
      <Row what={t`Next`}>{next.length === 0 ? t`not due` : names(next.map((at) => momentText(at, now)))}</Row>
    </>
  );
}

function Row({ what, children }: { what: string; children: ReactNode }) {
  return (
    <>
      <dt className="ink-2">{what}</dt>
      <dd className="break" dir="auto">
        {children}
      </dd>
    </>
  );
}

/**
 * A text that a shell executes literally, so nothing in it is hidden. Scrollable, by keyboard too.
 */
function Text({ file }: { file: PinnedFile | undefined }) {
  if (file?.text == null)
    return (
      <p className="pretty text-2 ink-2">{t`Its text cannot be shown, so you cannot allow it. Ask its agent to write it again.`}</p>
    );
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="excerpt" dir="ltr" tabIndex={0} role="region" aria-label={t`The whole script`}>
      {revealedCode(file.text)}
    </pre>
  );
}

/** Hosts of the relay's own machine that the person adds. */
function OwnHosts({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const wrong = wrongInHosts(hostsIn(value));
  return (
    <label className="text-2 stack gap-3 ink-2">
      <span>{t`Hosts on the relay’s own computer and networks that it may also reach (optional)`}</span>
      <input
        className="field"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        placeholder="localhost:8080"
        value={value}
        aria-invalid={wrong !== null}
        onChange={(event) => onChange(event.target.value)}
      />
      {wrong !== null && (
        <span className="wrong-note" role="status">
          {wrong}
        </span>
      )}
    </label>
  );
}

interface Props {
  readonly call: ToolCall;
  readonly ownHosts: string;
  readonly onOwnHosts: (text: string) => void;
  /** Whether the complete text is shown. Approval is impossible before. */
  readonly onShown: (isShown: boolean) => void;
}

/** The script that this one replaces, if there is one of its name. */
function Replaced({ call, name }: { call: ToolCall; name: string | null }) {
  const now = useNow(15_000);
  const before = useBefore(call, name);
  if (before?.kind !== 'script') return null;
  const hosts = [...(before.hosts ?? []), ...(before.own_hosts ?? [])].map(revealedLine);
  return (
    <p className="pretty text-2 ink-2">
      {t`Replaces the script with this name: ${revealedLine(before.script)}, ${timingText(before.timing, now)}.`}{' '}
      {hosts.length === 0 ? t`No network.` : t`${t`Reaches`}: ${names(hosts)}`}
    </p>
  );
}

/** A script that is being registered. */
function Registered({ call, ownHosts, onOwnHosts }: Props) {
  const approvals = useQuery(approvalsOf(useRoost()).approvals);
  const approval = approvals.kind === 'ready' ? approvals.value : null;
  const input = inputOf(call);
  const path = textIn(input, 'script_path') ?? '';
  const given: readonly unknown[] = Array.isArray(input['hosts']) ? input['hosts'] : [];
  const hosts = given.map(String);
  const isBoxed = approval?.sandbox.available ?? true;
  return (
    <>
      <dl className="call-script gap-5 text-2 stack">
        <Row what={t`File`}>{revealedLine(path)}</Row>
        <When call={call} />
        <Row what={t`Where it fails`}>
          {input['on_failure'] === 'wake_agent' ? t`Wake the agent with its output` : t`Only record it`}
        </Row>
        <Row what={t`Reaches`}>
          {!isBoxed
            ? t`No sandbox: it can read, change and delete everything that the relay’s user can, and reach any network.`
            : hosts.length > 0
              ? names(hosts.map(revealedLine))
              : t`No network.`}
        </Row>
      </dl>
      <Replaced call={call} name={textIn(input, 'name')} />
      <Text file={call.content?.files.find((file) => file.path === path)} />
      {isBoxed && approval?.ownHosts === true && <OwnHosts value={ownHosts} onChange={onOwnHosts} />}
    </>
  );
}

/** The file of a script differs from the approved text. */
function AnotherText({ call }: Pick<Props, 'call'>) {
  const path = textIn(inputOf(call), 'script_path') ?? '';
  const of = (files: readonly PinnedFile[] | null | undefined) => files?.find((file) => file.path === path);
  const [before, now] = [of(call.content?.before), of(call.content?.files)];
  return (
    <>
      <p className="pretty text-2 ink-2">
        {before
          ? t`Its file ${revealedLine(path)} has changed. Until you say yes, the text that you accepted runs. After a no, you are not asked about this text again.`
          : t`It does not run: the text of ${revealedLine(path)} was not accepted at this relay. After a no, you are not asked about this text again.`}
      </p>
      {before?.text != null && now?.text != null ? (
        <>
          <Diff before={before.text} after={now.text} isCode />
          <details className="call-file text-2 break">
            <summary className="touchable">{t`The whole script`}</summary>
            <Text file={now} />
          </details>
        </>
      ) : (
        <Text file={now} />
      )}
    </>
  );
}

export default function WantedScript(props: Props) {
  const { call, onShown } = props;
  const path = textIn(inputOf(call), 'script_path');
  const isText = call.content?.files.find((file) => file.path === path)?.text != null;
  useEffect(() => onShown(isText), [onShown, isText]);
  return call.tool === 'accept_script' ? <AnotherText call={call} /> : <Registered {...props} />;
}
