/**
 * Compares the public types of every entry with the reports in `etc/`; `--update` writes the reports anew.
 *
 * A difference is a change of the public surface: look at it, then commit the new report with the change that made it.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { root } from './process.mjs';

const update = process.argv.includes('--update');

/** The entries as package.json declares them: `[name of the report, declaration file]`. */
function readEntries() {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'object' ? [[subpath === '.' ? 'holdfast' : subpath.slice(2), target.types]] : [],
  );
}

/** The names the root entry exports: a type that another entry shows may be imported from there. */
function readRootNames() {
  const declarations = readFileSync(`${root}dist/index.d.ts`, 'utf8');
  return new Set(
    [...declarations.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names]) => names.match(/\w+/g)),
  );
}

function check([name, types]) {
  const file = `${root}${types.slice(2)}`;
  if (!existsSync(file)) {
    process.stderr.write(`${name}: expected ${types}, which is not there. Run npm run build first.\n`);
    return false;
  }
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      newlineKind: 'lf',
      mainEntryPointFilePath: file,
      compiler: { tsconfigFilePath: `${root}tsconfig.api.json` },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: `${root}etc`,
        reportTempFolder: `${root}temp`,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: 'error' },
          'ae-missing-release-tag': { logLevel: 'none' },
          // An editor follows a link to any symbol of the file; the report knows exported ones only.
          'ae-unresolved-link': { logLevel: 'none' },
        },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: `${root}package.json`,
  });
  const messageCallback = createMessageCallback(name);
  return Extractor.invoke(config, { localBuild: update, messageCallback }).succeeded;
}

/** Exports need a doc comment; their members only where the signature does not say it all. */
function createMessageCallback(name) {
  const known = name === 'holdfast' ? new Set() : readRootNames();
  return (message) => {
    const isMember = message.messageId === 'ae-undocumented' && message.sourceFileColumn !== 1;
    const isKnown = message.messageId === 'ae-forgotten-export' && known.has(/symbol "(\w+)"/.exec(message.text)?.[1]);
    const isChatter = message.logLevel === 'info' || message.logLevel === 'verbose';
    if (isMember || isKnown || isChatter) message.logLevel = 'none';
  };
}

mkdirSync(`${root}etc`, { recursive: true });
const red = readEntries().filter((entry) => !check(entry));
process.exitCode = red.length === 0 ? 0 : 1;
