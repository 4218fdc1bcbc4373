// The report page of a run, in a panel.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import * as vscode from "vscode";

import { command, words } from "./settings";

const MOST = 1 << 26; // bytes of output

/** Run a script with `--report`, and show the page. */
export async function showReport(document: vscode.TextDocument): Promise<void> {
  if (document.isUntitled || (document.isDirty && !(await document.save()))) {
    void vscode.window.showInformationMessage("autofix: save the script first; the report is about the file.");
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "autofix-"));
  try {
    const page = join(folder, "report.html");
    const where = { location: vscode.ProgressLocation.Notification, title: "autofix: running for the report", cancellable: true };
    const said = await vscode.window.withProgress(where, (_, cancel) => run(document, page, cancel));
    const text = await readFile(page, "utf-8").catch(() => undefined);
    if (text === undefined) {
      void vscode.window.showWarningMessage(said.trim() || "autofix: there is no report.");
      return;
    }
    const title = `autofix: ${vscode.workspace.asRelativePath(document.uri)}`;
    vscode.window.createWebviewPanel("autofix.report", title, vscode.ViewColumn.Beside, { enableScripts: true }).webview.html = text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(document: vscode.TextDocument, page: string, cancel: vscode.CancellationToken): Promise<string> {
  const [program, ...first] = command();
  const own = vscode.workspace.getConfiguration("autofix", document).get<string[]>("arguments", []);
  const typed = [...first, "fix", "--quiet", "--report", page, ...words(document.uri), document.uri.fsPath, ...own];
  const cwd = vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath ?? dirname(document.uri.fsPath);
  return new Promise((done) => {
    const child = execFile(program, typed, { cwd, maxBuffer: MOST }, (_error, _stdout, stderr) => done(stderr));
    cancel.onCancellationRequested(() => child.kill("SIGINT"));
  });
}
