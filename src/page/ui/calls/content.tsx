/**
 * What a yes to a call is to, besides its words: the files of the agent's folder that it is about.
 */
import { t } from '../../language/t.ts';
import type { CallContent, PinnedFile } from '../../../shared/protocol/calls.ts';
import { Diff } from '../parts/diff.tsx';
import { bytes, count, plural } from '../text/sizes.ts';
import { revealed, revealedCode } from '../text/unseen.ts';
import '../parts/excerpt.css';

/** Files whose texts are open at first. */
const OPEN_AT_FIRST = 1;

const leadsText = ({ leadsTo }: PinnedFile) => (leadsTo === null ? '' : t`, which leads to ${revealedCode(leadsTo)}`);

/** What lies there, where it is no text that is shown. */
function kindText({ kind, bytes: size, entries }: PinnedFile): string {
  switch (kind) {
    case 'none':
      return t`nothing`;
    case 'folder':
      return t`a folder with ${plural(entries, 'file or folder', 'files or folders')}, ${bytes(size)}`;
    case 'link':
      return t`a link`;
    case 'file':
    case 'other':
      return bytes(size);
  }
}

function FileText({ file, isOpen }: { file: PinnedFile; isOpen: boolean }) {
  const head = (
    <>
      <span dir="auto">{revealedCode(file.path)}</span>
      {leadsText(file)} <small>{file.inTurn ? t`${kindText(file)}, named by another` : kindText(file)}</small>
    </>
  );
  if (file.text === null) return <p className="call-file">{head}</p>;
  return (
    <details className="call-file" open={isOpen}>
      <summary>{head}</summary>
      <pre className="excerpt" dir="auto">
        {revealed(file.text)}
      </pre>
    </details>
  );
}

/** What a command reads of the folder. `isBounded`: it can do no more than its agent can. */
export function ReadFiles({
  content: { files, rest, isWhole },
  isBounded,
}: {
  content: CallContent;
  isBounded: boolean;
}) {
  if (files.length === 0 && isWhole) return null;
  return (
    <section className="call-files" aria-label={t`What it reads of its folder`}>
      {files.length > 0 && (
        <p className="call-note">
          {t`It reads ${plural(files.length + rest, 'file')} of its folder. Your yes is to what they say now.`}
        </p>
      )}
      {files.map((file, i) => (
        <FileText key={file.path} file={file} isOpen={i < OPEN_AT_FIRST} />
      ))}
      {rest > 0 && <p className="call-note">{t`And ${count(rest)} more, which are compared too.`}</p>}
      <p className="call-note">
        {!isWhole
          ? t`It may read more than can be compared, so you can let it once only.`
          : isBounded
            ? t`An “always” is to its words alone: in the sandbox, without a network, it can do no more than its agent can.`
            : t`An “always” holds until one of them changes. What it finds by itself while it runs, such as installed packages, is not compared.`}
      </p>
    </section>
  );
}

const isText = (file: PinnedFile | undefined) => file === undefined || file.kind === 'none' || file.text !== null;

function ChangedFile({ path, before, now }: { path: string; before?: PinnedFile; now?: PinnedFile }) {
  return (
    <>
      <p className="call-note" dir="auto">
        {revealedCode(path)}
      </p>
      {isText(before) && isText(now) ? (
        <Diff before={before?.text ?? ''} after={now?.text ?? ''} />
      ) : (
        <p className="call-note">
          {t`It was: ${before ? kindText(before) : t`nothing`}. It is now: ${now ? kindText(now) : t`nothing`}.`}
        </p>
      )}
    </>
  );
}

/** What has changed in it since somebody was asked about it, or agreed to it. */
export function Changed({ content: { files, before } }: { content: CallContent }) {
  if (before === null) return null;
  const paths = [...new Set([...before, ...files].map(({ path }) => path))];
  const changes = paths.flatMap((path) => {
    const [was, is] = [before, files].map((list) => list.find((file) => file.path === path));
    return was?.mark === is?.mark && was?.leadsTo === is?.leadsTo ? [] : [{ path, was, is }];
  });
  return (
    <section className="call-changed" aria-label={t`What has changed`}>
      <p className="call-note">
        <b>{t`This has changed since you were asked, or since you let it for always. Look at it again.`}</b>
      </p>
      {changes.map(({ path, was, is }) => (
        <ChangedFile key={path} path={path} {...(was ? { before: was } : {})} {...(is ? { now: is } : {})} />
      ))}
    </section>
  );
}

/** What would go, or come to lie elsewhere. */
export function WhatLies({ file }: { file: PinnedFile }) {
  if (file.kind === 'file' && file.text !== null) return <Diff before={file.text} after="" />;
  return <p className="call-note">{t`There lies ${kindText(file)} now.`}</p>;
}
