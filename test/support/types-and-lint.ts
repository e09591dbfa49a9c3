/**
 * What `tsc -p .` and `eslint . --max-warnings 0` say, in one process: the rules that need types ask the program that the types were
 * checked in, so that everything is read and checked once.
 */
import { ESLint } from 'eslint';
import ts from 'typescript';

const say = (text: string) => process.stdout.write(text);

function programOf(configPath: string): ts.Program {
  const fail = (error: ts.Diagnostic) => {
    throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  };
  const config = ts.getParsedCommandLineOfConfigFile(
    configPath,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  if (!config) throw new Error(`${configPath} cannot be read`);
  return ts.createProgram({
    rootNames: config.fileNames,
    options: config.options,
    configFileParsingDiagnostics: config.errors,
  });
}

const program = programOf('tsconfig.json');
const wrong = ts.getPreEmitDiagnostics(program);
say(
  ts.formatDiagnostics(wrong, {
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getCanonicalFileName: (name) => name,
    getNewLine: () => ts.sys.newLine,
  }),
);

const eslint = new ESLint({
  overrideConfig: {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: false, programs: [program] } },
  },
});
const results = await eslint.lintFiles('.');
say(await (await eslint.loadFormatter('stylish')).format(results));
const found = results.reduce((sum, { errorCount, warningCount }) => sum + errorCount + warningCount, 0);
process.exitCode = wrong.length + found === 0 ? 0 : 1;
