// Starts `autofix server` for Python documents, and owns the commands: repair, choose, report, restart.

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";

import { choose, Originals } from "./choice";
import { showReport } from "./report";
import { command, options } from "./settings";

const LANGUAGES = [
  { language: "python", scheme: "file" },
  { language: "python", scheme: "untitled" },
];
const RUN = "autofix.runAndRepair";
const STARTING_AFRESH = 500; // milliseconds: several settings often change at once

interface Answer {
  outcome: string;
  message: string;
  fixes: string[];
}

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const originals = new Originals();
  let waiting: NodeJS.Timeout | undefined;
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(Originals.scheme, originals),
    vscode.commands.registerCommand("autofix.repair", () => repair(originals)),
    vscode.commands.registerCommand("autofix.choose", () => withEditor((editor) => choose(editor.document, originals))),
    vscode.commands.registerCommand("autofix.report", () => withEditor((editor) => showReport(editor.document))),
    vscode.commands.registerCommand("autofix.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("autofix")) {
        clearTimeout(waiting);
        waiting = setTimeout(restart, STARTING_AFRESH);
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const [program, ...first] = command();
  const run = { command: program, args: [...first, "server"] }; // no transport: naming one adds a word to the command
  client = new LanguageClient("autofix", "autofix", { run, debug: run }, {
    documentSelector: [...LANGUAGES, { language: "python", notebook: "jupyter-notebook" }],
    initializationOptions: options(),
  });
  try {
    await client.start();
  } catch (error) {
    const settings = "Open the Setting";
    const said = `autofix does not start (${program}): ${error instanceof Error ? error.message : error}. ` +
      "Install it with pipx install 'autofix[lsp]', or name it in autofix.command.";
    if ((await vscode.window.showErrorMessage(said, settings)) === settings) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "autofix.command");
    }
  }
}

async function restart(): Promise<void> {
  if (client?.state === State.Running) {
    await client.stop();
  }
  await start();
}

async function withEditor(work: (editor: vscode.TextEditor) => Promise<void>): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.document.languageId !== "python") {
    void vscode.window.showInformationMessage("autofix: open the Python script to run.");
    return;
  }
  await work(editor);
}

/** Run the open script, as the server does with progress and a way to cancel; then let a person choose. */
async function repair(originals: Originals): Promise<void> {
  await withEditor(async ({ document }) => {
    if (client?.state !== State.Running) {
      void vscode.window.showErrorMessage("autofix: the server does not run; see Output | autofix.");
      return;
    }
    const words = vscode.workspace.getConfiguration("autofix", document).get<string[]>("arguments", []);
    const answer = await vscode.commands.executeCommand<Answer>(RUN, document.uri.toString(), words);
    if (answer.fixes.length > 0) {
      await choose(document, originals);
    }
  });
}
