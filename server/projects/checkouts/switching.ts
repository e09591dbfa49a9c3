/**
 * Git in a checkout that is used for one task after another. The scripts run in the sandbox.
 *
 * Nothing is lost on the way from one branch to the next. Changed and new files are committed on
 * the branch of the earlier task first. What cannot be committed stops the change. Commits that
 * would be on no branch get one below `kept/`. Ignored files, such as builds, stay.
 */

/**
 * Git in a checkout. A hook or a filter of the agent runs in the sandbox, too. The folder of a
 * checkout is no repository itself, whatever an agent writes into it.
 */
export const GIT =
  'git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.quotePath=false -c gc.auto=0 -c safe.bareRepository=explicit';
/** Files below .git that are there while git is in the middle of something. */
export const MID_WORK = 'rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG';

/** The exit status of `KEEP` where something is left. Its output names what. */
export const NOT_KEPT = 8;
/**
 * Commits what is in no commit, onto branch $2, with the message $3. Commits nothing where a file
 * has more than $4 bytes, or its content is one of the ids in $5. From $6 on: untracked files that
 * stay as they are.
 */
export const KEEP = `set -e -o pipefail
export LC_ALL=C
cd -- "$1"
branch=$2
message=$3
most=$4
refused=" $5 "
shift 5
expected=("$@")
git() { command ${GIT} -c commit.gpgSign=false "$@"; }
for each in ${MID_WORK} index.lock HEAD.lock; do
  [ ! -e ".git/$each" ] || { printf '.git/%s\\0' "$each"; exit ${NOT_KEPT}; }
done
# Marks in the index hide changes of files that are there.
hidden() {
  git ls-files -v -z | while IFS= read -r -d '' each; do
    case "$each" in [a-z]' '*|S' '*) [ ! -e "\${each:2}" ] || printf '%s\\0' "\${each:2}" ;; esac
  done
}
hidden | git update-index -z --no-assume-unchanged --stdin
hidden | git update-index -z --no-skip-worktree --stdin
isExpected() {
  local one
  for one in "\${expected[@]}"; do [ "$1" != "$one" ] || return 0; done
  return 1
}
# A file that the relay copied in is not committed, although it may be staged.
for each in "\${expected[@]}"; do
  git cat-file -e "HEAD:$each" 2>/dev/null || git rm -r -q --cached --ignore-unmatch -- ":(literal)$each"
done
left() {
  git status --porcelain=v1 -z -uall --ignore-submodules=none --no-renames | while IFS= read -r -d '' each; do
    case "$each" in '?? '*) ! isExpected "\${each:3}" || continue ;; esac
    printf '%s\\0' "\${each:3}"
  done
}
[ "$(left | wc -c)" != 0 ] || exit 0
if [ "$(git symbolic-ref --quiet --short HEAD)" != "$branch" ]; then left; exit ${NOT_KEPT}; fi
tooLarge() {
  { git diff-files --name-only -z; git ls-files -z --others --exclude-standard; } | while IFS= read -r -d '' each; do
    isExpected "$each" || [ -L "$each" ] || [ ! -f "$each" ] || [ "$(stat -c %s -- "$each")" -le "$most" ] || printf '%s\\0' "$each"
  done
}
if [ -n "$most" ] && [ "$(tooLarge | wc -c)" != 0 ]; then tooLarge; exit ${NOT_KEPT}; fi
git add -u
git ls-files -z --others --exclude-standard | while IFS= read -r -d '' each; do
  # A repository within this one cannot be committed.
  isExpected "$each" || [ "\${each%/}" != "$each" ] || printf '%s\\0' "$each"
done | git update-index --add -z --stdin
copied() {
  git diff-index --cached -z --no-renames --diff-filter=d HEAD | while IFS= read -r -d '' each && IFS= read -r -d '' path; do
    read -r _ _ _ id _ <<< "$each"
    case "$refused" in *" $id "*) printf '%s\\0' "$path" ;; esac
  done
}
if [ "$(copied | wc -c)" != 0 ]; then copied; git reset --quiet; exit ${NOT_KEPT}; fi
if ! git diff --cached --quiet; then
  git commit --quiet --no-verify -m "$message"
  [ "$(left | wc -c)" != 0 ] || { printf 'kept\\0'; exit 0; }
fi
left
exit ${NOT_KEPT}`;

/** Puts branch $2 into the checkout. Its commits come at descriptor 4, as a bundle. */
export const TURN = `set -e
git() { command ${GIT} "$@"; }
trap 'rm -rf -- "$1.in"' EXIT
cat <&4 > "$1.in"
cd -- "$1"
trap 'rm -rf -- "../$(basename -- "$PWD").in"' EXIT
git fetch --quiet --no-tags -- "../$(basename -- "$PWD").in" "+refs/heads/$2:refs/roost/next" 2>&1
own=refs/heads/$2
before=$(git symbolic-ref --quiet --short HEAD || git rev-parse HEAD)
keep() { git update-ref "refs/heads/kept/$(git rev-parse --short=12 "$1")" "$1"; }
[ -n "$(git for-each-ref --count=1 --contains HEAD refs/heads)" ] || keep HEAD
git checkout --quiet --detach 2>&1
if ! git show-ref --verify --quiet "$own"; then git update-ref "$own" refs/roost/next
elif ! git merge-base --is-ancestor refs/roost/next "$own"; then
  git merge-base --is-ancestor "$own" refs/roost/next || keep "$own"
  git update-ref "$own" refs/roost/next
fi
if ! git checkout --quiet --no-overwrite-ignore "$2" -- 2>&1; then
  git checkout --quiet "$before" --
  exit 7
fi`;
