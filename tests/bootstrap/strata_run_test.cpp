// strata-run, run on small shell programs: what ranks are told, exit codes, output, signals, and that nothing
// stays.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "ccl/base/environment.hpp"
#include "tests/bootstrap/launch.hpp"
#include "tests/bootstrap/ranks.hpp"

using namespace strata;
using namespace strata::test;

namespace {

using Words = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// -n ranks of a shell script.
Words shell(int ranks, const std::string& script, Words options = {}) {
  Words all = {"-n", std::to_string(ranks)};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"--", "/bin/sh", "-c", script});
  return all;
}

std::map<std::string, std::string> variables_in(const std::string& out) {
  std::map<std::string, std::string> variables;
  for (const std::string& line : sorted_lines(out))
    variables[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  return variables;
}

}  // namespace

TEST_CASE("ranks are told their place, where to meet and the secret, and keep the rest") {
  for (const int ranks : {1, 2, 5}) {
    const Result result =
        launch(shell(ranks, "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE", {"--no-prefix"}));
    Words expected;
    for (int r = 0; r < ranks; ++r) {
      const std::string rank = std::to_string(r), size = std::to_string(ranks);
      expected.push_back(rank + " " + size + " " + rank + " " + size);
    }
    CHECK(result.exit_code == 0);
    CHECK(sorted_lines(result.out) == expected);
    CHECK(result.err == "");
  }
  const Words second_node = {"--nnodes",     "3",           "--node-rank", "1",
                             "--rendezvous", "node0:29400", "--no-prefix"};
  const auto placed =
      launch(shell(2, "echo $RANK $WORLD_SIZE $LOCAL_RANK $STRATA_RENDEZVOUS $MASTER_ADDR:$MASTER_PORT",
                   second_node),
             {"STRATA_SECRET=s"});
  CHECK(sorted_lines(placed.out) == Words{"2 6 0 node0:29400 node0:29401", "3 6 1 node0:29400 node0:29401"});

  auto told = variables_in(
      launch(shell(2, "[ $RANK = 1 ] || env",
                   {"--no-prefix", "--timeout", "2.5", "--rendezvous-timeout", "7", "--transport", "tcp",
                    "--interface", "lo", "--algorithm", "ring", "--port-range", "5-6", "--log", "error"}),
             {"KEPT=a=b", "OMP_NUM_THREADS=3", "STRATA_SPIN_US=9", "STRATA_TRANSPORT=shm", "MASTER_PORT=77"})
          .out);
  CHECK(told["KEPT"] == "a=b");
  CHECK(told["OMP_NUM_THREADS"] == "3");
  CHECK(told["STRATA_SPIN_US"] == "9");
  CHECK(told["STRATA_TRANSPORT"] == "tcp");
  CHECK(told["STRATA_TIMEOUT_MS"] == "2500");
  CHECK(told["STRATA_RENDEZVOUS_TIMEOUT_MS"] == "7000");
  CHECK(told["STRATA_INTERFACE"] == "lo");
  CHECK(told["STRATA_ALGORITHM"] == "ring");
  CHECK(told["STRATA_PORT_RANGE"] == "5-6");
  CHECK(told["STRATA_LOG"] == "error");
  CHECK(told["MASTER_PORT"] == "77");
  CHECK(told["STRATA_SECRET"].size() == 32);
  CHECK(variables_in(launch(shell(1, "env", {"--no-prefix"})).out)["STRATA_SECRET"] != told["STRATA_SECRET"]);
  CHECK(std::stoi(variables_in(launch(shell(1, "env", {"--no-prefix"})).out)["OMP_NUM_THREADS"]) >= 1);
}

TEST_CASE("the rendezvous of one host is a socket in a private folder, which is gone at the end") {
  const TemporaryFolder temporary;
  const std::string script =
      "echo $STRATA_RENDEZVOUS; stat -c %a $(dirname $STRATA_RENDEZVOUS); : > $(dirname "
      "$STRATA_RENDEZVOUS)/left";
  const Result result = launch(shell(1, script, {"--no-prefix"}), {"TMPDIR=" + temporary.path("")});
  const Words lines = sorted_lines(result.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "700");
  CHECK(has(lines[0], temporary.path("")));
  CHECK(temporary.empty());
  Launch killed(shell(1, "echo up; exec sleep 1000"), {"TMPDIR=" + temporary.path("")});
  REQUIRE(killed.wait_for("up"));
  CHECK_FALSE(temporary.empty());
  killed.signal(SIGKILL);
  killed.wait_until_all_are_gone();
  CHECK(temporary.empty());
}

TEST_CASE("the secret of several hosts comes from a file or the environment") {
  const TemporaryFolder folder;
  const Words nodes = {"--nnodes", "2", "--rendezvous", "h:1", "--no-prefix"};
  Words with_file = nodes;
  with_file.insert(with_file.end(), {"--secret-file", folder.path("secret")});
  std::ofstream(folder.path("secret")) << "from file\n";
  std::filesystem::permissions(folder.path("secret"), std::filesystem::perms::owner_read);
  const std::string script = "echo \"$STRATA_SECRET\"";
  CHECK(launch(shell(1, script, with_file), {"STRATA_SECRET=other"}).out == "from file\n");
  CHECK(launch(shell(1, script, nodes), {"STRATA_SECRET=other"}).out == "other\n");
  const Result none = launch(shell(1, script, nodes));
  CHECK(none.exit_code == 2);
  CHECK(has(none.err, "--secret-file"));
  std::filesystem::remove(folder.path("secret"));
  CHECK(has(launch(shell(1, script, with_file)).err, "open(" + folder.path("secret") + "): No such file"));
  std::ofstream(folder.path("secret")) << "\n";
  CHECK(has(launch(shell(1, script, with_file)).err, "is empty"));
}

TEST_CASE("exit codes: of the first rank that failed, or of strata-run itself") {
  for (const int code : {1, 7, 255}) {
    const Result result =
        launch(shell(3, "[ $RANK = 1 ] && exit " + std::to_string(code) + "; exec sleep 1000"));
    CHECK(result.exit_code == code);
    CHECK(has(result.err, "strata-run: rank 1 on "));
    CHECK(has(result.err, "exited with code " + std::to_string(code) + "; ending the other ranks"));
  }
  for (const int signal : {SIGKILL, SIGSEGV, SIGTERM}) {
    const Result result = launch(
        shell(3, "ulimit -c 0; [ $RANK = 2 ] && kill -" + std::to_string(signal) + " $$; exec sleep 1000"));
    CHECK(result.exit_code == 128 + signal);
    CHECK(has(result.err, "rank 2 on "));
    CHECK(has(result.err, "was killed by signal " + std::to_string(signal) + " ("));
  }
  CHECK(launch(shell(4, "exit 0")).exit_code == 0);
  CHECK(launch(shell(1, "exit 3")).exit_code == 3);
}

TEST_CASE("mistakes are named before anything starts") {
  struct Case {
    Words arguments, environment;
    int exit_code;
    std::string said;
  };
  const TemporaryFolder folder;
  std::ofstream(folder.path("text")) << "no program";
  for (const Case& c : std::vector<Case>{
           {{}, {}, 2, "--ranks is required"},
           {{"-n", "0", "true"}, {}, 2, "0"},
           {{"-n", "x", "true"}, {}, 2, "x"},
           {{"-n", "2"}, {}, 2, "program to run is missing"},
           {{"-n", "2", "--"}, {}, 2, "program to run is missing"},
           {{"-n", "2", "--node-rnk", "1", "true"}, {}, 2, "did you mean --node-rank?"},
           {{"-n", "2", "--nnodes", "2", "--node-rank", "2", "true"}, {}, 2, "from 0 to 1"},
           {{"-n", "2", "--nnodes", "2", "true"}, {}, 2, "--rendezvous HOST:PORT"},
           {{"-n", "2", "--nnodes", "2", "--rendezvous", "/tmp/x", "true"}, {}, 2, "cannot meet at a path"},
           {{"-n", "2", "--rendezvous", "nowhere", "true"}, {}, 2, "the port is missing"},
           {{"-n", "2", "--only-rank", "2", "true"}, {}, 2, "from 0 to 1"},
           {{"-n", "2", "--transport", "carrier", "true"}, {}, 2, "\"carrier\""},
           {{"-n", "2", "--log", "loud", "true"}, {}, 2, "\"loud\""},
           {{"-n", "2", "true"}, {"STRATA_LOGS=info"}, 2, "did you mean STRATA_LOG?"},
           {{"-n", "2", "true"}, {"STRATA_SPIN_US=x"}, 2, "STRATA_SPIN_US"},
           {{"--lab", "2y2", "true"}, {}, 2, "'2y2' is neither HOSTSxRANKS"},
           {{"--lab", "2x2", "-n", "2", "true"}, {}, 2, "leave -n away"},
           {{"--lab", "2x2", "--nnodes", "2", "true"}, {}, 2, "leave --nnodes and --rendezvous away"},
           {{"--lab", "2x2", "--rendezvous", "h:1", "true"}, {}, 2, "leave --nnodes and --rendezvous away"},
           {{"--lab", "2x2", "--lab-order", "random", "true"}, {}, 2, "random"},
           {{"-n", "2", "--lab-racks", "2", "true"}, {}, 2, "--lab-racks requires --lab"},
           {{"--lab", "2x2"}, {}, 2, "program to run is missing"},
           {{"--lab", "2x2", "--only-rank", "4", "true"}, {}, 2, "from 0 to 3"},
           {{"--lab", "2x2", "no-such-program"}, {}, 127, "no program no-such-program in PATH"},
           {{"-n", "2", "no-such-program"}, {}, 127, "no program no-such-program in PATH"},
           {{"-n", "2", folder.path("none")}, {}, 127, "there is no file"},
           {{"-n", "2", folder.path("text")}, {}, 126, "chmod +x"},
           {{"-n", "2", folder.path("")}, {}, 126, "is a folder"},
       }) {
    const Result result = launch(c.arguments, c.environment);
    CAPTURE(c.arguments, c.environment, result.err);
    CHECK(result.exit_code == c.exit_code);
    CHECK(has(result.err, c.said));
    CHECK(result.err.starts_with("strata-run: "));
    CHECK(result.out == "");
  }
  std::filesystem::permissions(folder.path("text"), std::filesystem::perms::owner_all);
  const Result unformatted = launch({"-n", "2", folder.path("text")});
  CHECK(unformatted.exit_code == 126);
  CHECK(has(unformatted.err, "Exec format error"));
}

TEST_CASE("help is printed on standard output, with all options and variables") {
  const Result help = launch({"--help"}), variables = launch({"--help-environment"});
  CHECK(help.exit_code == 0);
  for (const char* part :
       {"--nnodes", "--secret-file", "--only-rank", "EXAMPLES", "LABS", "EXIT STATUS", "MASTER_PORT"})
    CHECK(has(help.out, part));
  CHECK(variables.exit_code == 0);
  for (const Variable& v : known_variables()) CHECK(has(variables.out, std::string(v.name)));
}

TEST_CASE("options of the program are the program's, with and without the mark") {
  CHECK(launch({"-n", "1", "--no-prefix", "echo", "-n", "5", "--help"}).out == "5 --help");
  CHECK(launch({"-n", "1", "--no-prefix", "--", "echo", "--", "--log", "x"}).out == "-- --log x\n");
}

TEST_CASE("each rank has cores of its own, if there are enough") {
  const auto cores = [](int ranks, const Words& options) {
    Words all = {"--no-prefix"};
    all.insert(all.end(), options.begin(), options.end());
    return sorted_lines(launch(shell(ranks, "grep Cpus_allowed_list /proc/self/status | cut -f2", all)).out);
  };
  const std::string everything = cores(1, {})[0];
  CHECK(cores(2, {"--no-bind"}) == Words{everything, everything});
  if (everything.find_first_of(",-") == std::string::npos) return;  // one core
  const Words two = cores(2, {});
  CHECK(two[0] != two[1]);
}

TEST_CASE("each line carries its rank, and the streams stay apart") {
  const Result result = launch(shell(11, "echo out; echo err >&2; printf 'no end'"));
  Words out, err;
  for (int r = 0; r < 11; ++r) {
    const std::string prefix = (r < 10 ? "[ " : "[") + std::to_string(r) + "] ";
    out.insert(out.end(), {prefix + "out", prefix + "no end"});
    err.push_back(prefix + "err");
  }
  std::sort(out.begin(), out.end());
  std::sort(err.begin(), err.end());
  CHECK(sorted_lines(result.out) == out);
  CHECK(sorted_lines(result.err) == err);
  const Result only = launch(shell(3, "echo out$RANK; echo err >&2", {"--only-rank", "1", "--no-prefix"}));
  CHECK(only.out == "out1\n");
  CHECK(only.err == "err\nerr\nerr\n");
}

TEST_CASE("no byte is lost or mixed, however much all ranks write at once") {
  // Each rank numbers its lines, of many lengths.
  const std::string script =
      "i=0; line=x; while [ $i -lt 400 ]; do echo $i $line; line=x$line; i=$((i+1)); done";
  const Result result = launch(shell(4, script));
  std::map<std::string, int> next;
  std::istringstream lines(result.out);
  for (std::string prefix, text; lines >> prefix;) {
    int number = 0;
    lines >> number >> text;
    REQUIRE(number == next[prefix]++);
    REQUIRE(text == std::string(static_cast<std::size_t>(number) + 1, 'x'));
  }
  CHECK(next == std::map<std::string, int>{{"[0]", 400}, {"[1]", 400}, {"[2]", 400}, {"[3]", 400}});
  const Result large = launch(
      {"-n", "2", "--no-prefix", "--only-rank", "1", "--", "/bin/sh", "-c", "head -c 9000000 /dev/zero"});
  const bool whole = large.out == std::string(9'000'000, '\0');
  CHECK(whole);  // too long to be printed
}

TEST_CASE("rank 0 reads standard input, the others nothing") {
  CHECK(sorted_lines(launch({"-n", "3", "--", "cat"}, {}, "hello\n").out) == Words{"[0] hello"});
}

TEST_CASE("signals reach all ranks, and ranks decide how they end") {
  for (const auto& [signal, name] :
       std::map<int, std::string>{{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGHUP, "HUP"}, {SIGUSR1, "USR1"}}) {
    CAPTURE(name);
    // The shell may be interrupted only when its trap is set, so that is what it reports.
    Launch running(shell(2, "trap 'echo got " + name + "; exit 5' " + name +
                                "; echo up$RANK; while :; do sleep 1000 & wait $!; done"));
    REQUIRE(running.wait_for("up0"));
    REQUIRE(running.wait_for("up1"));
    running.signal(signal);
    CHECK(running.exit_code() == 5);
    CHECK(has(running.out(), "got " + name));
    // The end of one rank is a signal to the other; but a signal that ends the job is waited for in all.
    for (const char* rank : {"[0] ", "[1] "})
      if (signal != SIGUSR1) CHECK(has(running.out(), rank + ("got " + name)));
    running.wait_until_all_are_gone();
  }
}

TEST_CASE("a job can be stopped and continued") {
  Launch running(shell(2, "trap 'exit 6' TERM; echo up$RANK; while :; do sleep 1000 & wait $!; done"));
  REQUIRE(running.wait_for("up0"));
  REQUIRE(running.wait_for("up1"));
  running.signal(SIGTSTP);
  int status = 0;
  REQUIRE(::waitpid(running.pid(), &status, WUNTRACED) == running.pid());
  CHECK(WIFSTOPPED(status));
  running.signal(SIGCONT);
  running.signal(SIGTERM);
  CHECK(running.exit_code() == 6);
  running.wait_until_all_are_gone();
}

TEST_CASE("ranks that do not end when asked are killed: after the grace, or by a second SIGINT") {
  const std::string stubborn = "trap '' INT TERM; echo up$RANK; while :; do sleep 1000; done";
  Launch twice(shell(2, stubborn, {"--grace", "1000"}));
  REQUIRE(twice.wait_for("up0"));
  REQUIRE(twice.wait_for("up1"));
  twice.signal(SIGINT);
  // The first has been taken when it is said; a second one before would be the same signal.
  while (!has(std::string(twice.err_so_far()), "passing it on")) std::this_thread::yield();
  twice.signal(SIGINT);
  CHECK(twice.exit_code() == 128 + SIGKILL);
  CHECK(has(twice.err(), "second SIGINT"));
  twice.wait_until_all_are_gone();

  // Rank 0 fails when the others do not listen any more.
  const TemporaryFolder folder;
  const std::string up = folder.path("up");
  const std::string fail = "until [ -e " + up + "1 ] && [ -e " + up + "2 ]; do sleep 0.01; done; exit 4";
  const std::string script =
      "trap '' TERM; [ $RANK = 0 ] && { " + fail + "; }; : > " + up + "$RANK; while :; do sleep 1000; done";
  const Result late = launch(shell(3, script, {"--grace", "0.2"}));
  CHECK(late.exit_code == 4);
  CHECK(has(late.err, "rank 1-2 did not end within 0.2 s; killing it"));
}

TEST_CASE("nothing stays behind: neither what ranks started, nor after strata-run is killed") {
  const std::string family = "sleep 1000 & (sleep 1000; :) & echo up$RANK; ";
  Launch fails(shell(2, family + "[ $RANK = 1 ] && exit 1; wait"));
  CHECK(fails.exit_code() == 1);
  fails.wait_until_all_are_gone();

  Launch ends(shell(2, family + "exit 0"));
  CHECK(ends.exit_code() == 0);
  ends.wait_until_all_are_gone();

  Launch killed(shell(2, "trap '' HUP INT TERM; " + family + "wait"));
  REQUIRE(killed.wait_for("up0"));
  REQUIRE(killed.wait_for("up1"));
  killed.signal(SIGKILL);
  killed.wait_until_all_are_gone();
  CHECK(killed.exit_code() == 128 + SIGKILL);
}

TEST_CASE("a reader that goes away ends the ranks as it would without strata-run") {
  Launch running({"-n", "2", "--", "yes"});
  REQUIRE(running.wait_for("y"));
  running.close_output();
  CHECK(running.exit_code() == 128 + SIGPIPE);
  running.wait_until_all_are_gone();
}
